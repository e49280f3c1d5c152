@echo off
rem Instala o geobill @version@ nesta pasta, sem internet. Nada e gravado fora dela.
setlocal
chcp 65001 >nul
cd /d "%~dp0"
if "%PYTHON%"=="" set "PYTHON=py -@python@"
%PYTHON% -c "import sys; sys.exit('%%d.%%d' %% sys.version_info[:2] != '@python@')" >nul 2>nul
if errorlevel 1 (
  echo Este pacote precisa do Python @python@, que não foi encontrado. Instale-o com o instalador de python.org e rode de novo,
  echo ou diga onde ele está:  set PYTHON=C:\caminho\python.exe
  pause
  exit /b 1
)
%PYTHON% -m venv --clear geobill-venv
if errorlevel 1 (
  echo O Python não conseguiu criar o ambiente nesta pasta. Descompacte o pacote onde você pode gravar.
  pause
  exit /b 1
)
echo Instalando o geobill @version@, cerca de um minuto ...
geobill-venv\Scripts\python.exe -m pip install --quiet --disable-pip-version-check --no-index --no-deps --find-links pacotes --require-hashes -r pacotes.txt
if errorlevel 1 (
  echo A instalação falhou; a mensagem está acima. Descompacte o pacote de novo: um arquivo pode ter vindo incompleto.
  pause
  exit /b 1
)
>geobill.bat echo @"%%~dp0geobill-venv\Scripts\geobill.exe" %%*
call geobill.bat doctor
if errorlevel 1 (
  echo O geobill foi instalado, mas o exame acima apontou uma falha ^(FAULT^). Guarde este texto e peça ajuda.
  pause
  exit /b 1
)
echo.
echo Pronto. Para usar: "%~dp0geobill.bat" --help    Guia: LEIA-ME.html
pause
