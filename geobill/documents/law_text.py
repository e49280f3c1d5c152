"""The text of articles that papers explain, as the city council publishes it; a statute without text here is cited by number."""

TEXTS: dict[str, dict[str, str]] = {
    "caieiras-lei-3057-2001": {
        "3 § 2": (
            "§ 2º O valor de caução corresponderá a três contribuições pecuniárias mensais, cujo valor será "
            "calculado com a fórmula estabelecida no art. 7° desta Lei."
        ),
        "6 § 1": (
            "§ 1º O valor mensal da prestação pecuniária será calculado com base na expressão estabelecida no "
            "art. 7° desta Lei e constará do Decreto de Permissão de Uso."
        ),
        "7": (
            "Art. 7º O valor mensal da prestação pecuniária pela utilização das vias públicas, espaço aéreo e "
            "subsolo e obras de arte do Município de Caieiras, será calculado de acordo com a seguinte "
            "fórmula:\nVm =(aXbxT)xLXDxR\nSendo:\nVm = valor mensal\na = extensão da rede em metros\nb = largura da "
            "faixa (largura mínima de 0,05 metros)\nT = valor do terreno, conforme Mapa de Valores do Município de"
            " Caieiras.\nL = índice de Locação = 3%\nD = índice de depreciação (área de uso comum, conforme dispõe "
            "a Associação Brasileira de Normas Técnicas — ABNT) = 50%\nR coeficiente de redutor*\n* coeficiente de "
            "redutor — R\n0 - 5 Km........................1,00\n5 - 15 Km......................0,90\n15 - 30 "
            "Km....................0,80\n30 - 50 Km....................0,70\n50 - 100 Km..................0,60"
        ),
        "7 § 1": (
            '§ 1° O valor "b" da fórmula constante no "caput" deste artigo, terá largura mínima para efeito de '
            "cálculo e de cobrança, de 0,50 metros, mesmo que a largura da faixa seja fisicamente menor."
        ),
        "7 § 2": (
            "§ 2º A cobrança relativa a armários óticos, contêineres e outros, terá a retribuição pecuniária "
            "mensal cobrada, considerando-se o volume ocupado pelo equipamento instalado na área pública, na "
            "razão de RS 150,00 (cento e cinquenta reais) por metro cúbico."
        ),
        "8": (
            "Art. 8º O pagamento da prestação pecuniária será feito mensalmente, tendo como vencimento o décimo "
            "quinto dia do mês."
        ),
        "8 § único": (
            "Parágrafo único. O pagamento da prestação pecuniária poderá ser feito em cota única, desde que "
            "obedecido o valor anual correspondente."
        ),
        "9 § 2": (
            "§ 2º A multa será aplicada pela Secretaria Municipal de Obras Projetos e Planejamento, sempre que as"
            " entidades de direito público ou privado não atenderem a notificação do órgão fiscalizador quanto à "
            "inobservância do projeto na execução da obra ou serviço, e será de vinte por cento do valor da "
            "prestação pecuniária mensal de entidade infratora."
        ),
        "10": (
            "Art. 10. Serão considerados dispostos clandestinamente os equipamentos implantados em "
            "desconformidade com o estabelecido nesta Lei"
        ),
        "10 § 1": (
            "§ 1º As entidades de direito público ou privado, estarão sujeitas a perda dos equipamentos "
            "implantados clandestinamente por decisão do Secretário Municipal de Obras, Projetos e Planejamento "
            "ouvidos, previamente, os órgão técnicos da Pasta e a Secretaria de Assuntos Jurídicos, assegurada a "
            "ampla defesa."
        ),
        "10 § 2": (
            "§ 2º Em caso de impossibilidade de retirada do equipamento do local onde foi disposto "
            "clandestinamente, a prestação pecuniária mensal será cobrada em dobro, até a cessação da "
            "irregularidade."
        ),
        "10 § 3": (
            "§ 3º Para fins de cálculo em dobro será considerada a data da publicação da presente Lei ou da "
            "instalação do equipamento, se devidamente comprovada esta data."
        ),
        "12": (
            "Art. 12. As entidades de direito público ou privado, que tenham equipamentos de sua propriedade já "
            "implantados, em caráter permanente, nas vias públicas, espaço aéreo, subsolo e nas obras de arte do "
            "Município, fornecerão à Secretaria Municipal de Obras Projetos e Planejamento, cópia dos elementos "
            "cadastrais disponíveis, a fim de serem complementados os registros existentes e organizados em banco"
            " de dados, para posterior expedição do Decreto de Permissão de Uso."
        ),
        "12 § 1": (
            "§ 1º As entidades de direito público ou privado terão o prazo de seis meses para cumprir o disposto "
            "neste artigo, contados a partir da publicação desta Lei."
        ),
        "12 § 2": (
            "§ 2º A prestação pecuniária mensal será devida pelas entidades de direito público ou privado que se "
            'enquadrem no “Caput" deste artigo, a partir da publicação desta Lei.'
        ),
        "12 § 3": (
            "§ 3º Decorrido o prazo estabelecido no § 1° deste art. 12, sem que as entidades cumpram a "
            "determinação contida neste artigo, o valor mensal da prestação pecuniária será calculado em dobro."
        ),
        "13": (
            "Art. 13. A presente Lei não é aplicável no caso de uso de vias públicas, espaço aéreo, subsolo e "
            "obras de arte do Município, por entidades de direito público do Município de Caieiras."
        ),
        "14": (
            "Art. 14. Observado o disposto no art. 14, da Lei Complementar n° 101, de 04 de maio de 2000, fica "
            "autorizada a utilização parcial dos débitos decorrentes das prestações pecuniárias relativas ao "
            "preço público criada por esta Lei, para compensar eventuais créditos da entidade interessada, "
            "resultantes de renúncia de receita amparada em Lei Municipal."
        ),
        "15": ("Art. 15. Os casos omissos serão resolvidos por decisão do Sr. Prefeito Municipal."),
        "16": (
            "Art. 16. Esta lei se aplica não só nos espaços que vierem a ser ocupados, como também àqueles que já"
            " vêm sendo utilizados entidades referidas."
        ),
    },
}
