# gridline completion for bash
_gridline() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" path='' word words='' files=0
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) continue ;; esac
    case "${path:+$path }$word" in
      'upload') path='upload' ;;
      'append') path='append' ;;
      'cat') path='cat' ;;
      'ls') path='ls' ;;
      'show') path='show' ;;
      'lookup') path='lookup' ;;
      'mkdir') path='mkdir' ;;
      'api') path='api' ;;
      'login') path='login' ;;
      'logout') path='logout' ;;
      'whoami') path='whoami' ;;
      'profile') path='profile' ;;
      'profile list') path='profile list' ;;
      'profile use') path='profile use' ;;
      'profile remove') path='profile remove' ;;
      'config') path='config' ;;
      'config get') path='config get' ;;
      'config set') path='config set' ;;
      'config list') path='config list' ;;
      'serve') path='serve' ;;
      'admin') path='admin' ;;
      'admin create-user') path='admin create-user' ;;
      'admin create-key') path='admin create-key' ;;
      'completion') path='completion' ;;
    esac
  done
  case "$path" in
    '') words='upload append cat ls show lookup mkdir api login logout whoami profile config serve admin completion --help --version' ;;
    'upload') words='--name --folder --public --on-conflict --delimiter --encoding --header --no-header --column --null --dry-run --json --jq -q --quiet --profile'; files=1 ;;
    'append') words='--row --format --delimiter --encoding --header --no-header --null --json --jq -q --quiet --profile'; files=1 ;;
    'cat') words='--format --columns --head --json --jq -q --quiet --profile'; files=0 ;;
    'ls') words='--all --type --order --limit --json --jq -q --quiet --profile'; files=0 ;;
    'show') words='--json --jq -q --quiet --profile'; files=0 ;;
    'lookup') words='--user --json --jq -q --quiet --profile'; files=0 ;;
    'mkdir') words='-p --parents --json --jq -q --quiet --profile'; files=0 ;;
    'api') words='-f --field -F --raw-field -H --header --input -i --include --json --jq -q --quiet --profile'; files=0 ;;
    'login') words='--user --json --jq -q --quiet --profile'; files=0 ;;
    'logout') words='--json --jq -q --quiet --profile'; files=0 ;;
    'whoami') words='--json --jq -q --quiet --profile'; files=0 ;;
    'profile') words='list use remove'; files=0 ;;
    'profile list') words='--json --jq -q --quiet --profile'; files=0 ;;
    'profile use') words='--json --jq -q --quiet --profile'; files=0 ;;
    'profile remove') words='--json --jq -q --quiet --profile'; files=0 ;;
    'config') words='get set list'; files=0 ;;
    'config get') words='--json --jq -q --quiet --profile'; files=0 ;;
    'config set') words='--json --jq -q --quiet --profile'; files=0 ;;
    'config list') words='--json --jq -q --quiet --profile'; files=0 ;;
    'serve') words='--host --port --database --blobs --url --smtp --mail-from --allow-url-import --json --jq -q --quiet --profile'; files=0 ;;
    'admin') words='create-user create-key'; files=0 ;;
    'admin create-user') words='--email --admin --database --json --jq -q --quiet --profile'; files=0 ;;
    'admin create-key') words='--scopes --expires --label --database --json --jq -q --quiet --profile'; files=0 ;;
    'completion') words='--json --jq -q --quiet --profile'; files=0 ;;
  esac
  case "$path $previous" in
    'upload --on-conflict') words='fail rename replace append'; files=0 ;;
    'append --format') words='csv tsv jsonl'; files=0 ;;
    'cat --format') words='json csv tsv ndjson table'; files=0 ;;
    'ls --type') words='grid plot fold'; files=0 ;;
    'ls --order') words='filename -filename date_modified -date_modified'; files=0 ;;
    'serve --blobs') words='sql'; files=0 ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "$files" = 1 ]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _gridline gridline
