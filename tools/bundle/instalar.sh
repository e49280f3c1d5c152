#!/bin/sh
# Instala o geobill @version@ nesta pasta, sem internet. Nada é gravado fora dela.
set -eu
cd "$(dirname "$0")"
python="${PYTHON:-python@python@}"
command -v "$python" >/dev/null 2>&1 || python=python3
if ! "$python" -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] != "@python@")' 2>/dev/null; then
  echo "Este pacote precisa do Python @python@, que não foi encontrado. Instale-o e rode de novo, ou diga onde ele está:" >&2
  echo "  PYTHON=/caminho/do/python@python@ ./instalar.sh" >&2
  exit 1
fi
if ! "$python" -m venv --clear geobill-venv; then
  echo "O Python não conseguiu criar o ambiente. No Debian e no Ubuntu falta o pacote python@python@-venv." >&2
  exit 1
fi
echo "Instalando o geobill @version@ (cerca de um minuto) ..."
./geobill-venv/bin/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps \
  --find-links pacotes --require-hashes -r pacotes.txt
if ! ./geobill-venv/bin/python -m pip check --disable-pip-version-check >/dev/null; then
  echo "Falta alguma peça no pacote: descompacte-o de novo, inteiro, e rode de novo." >&2
  exit 1
fi
cat >geobill.sh <<'SCRIPT'
#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/geobill-venv/bin/geobill" "$@"
SCRIPT
chmod +x geobill.sh
if ! ./geobill.sh doctor; then
  echo "O geobill foi instalado, mas o exame acima apontou uma falha (FAULT). Guarde este texto e peça ajuda." >&2
  exit 1
fi
echo
echo "Pronto. Para usar: $(pwd)/geobill.sh --help    Guia: LEIA-ME.html"
