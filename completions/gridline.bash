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
      'plot') path='plot' ;;
      'plot create') path='plot create' ;;
      'plot update') path='plot update' ;;
      'plot show') path='plot show' ;;
      'plot data') path='plot data' ;;
      'plot list') path='plot list' ;;
      'plot feed') path='plot feed' ;;
      'plot pick') path='plot pick' ;;
      'plot unpick') path='plot unpick' ;;
      'column') path='column' ;;
      'column list') path='column list' ;;
      'column get') path='column get' ;;
      'column set') path='column set' ;;
      'column add') path='column add' ;;
      'column rename') path='column rename' ;;
      'column remove') path='column remove' ;;
      'rename') path='rename' ;;
      'mv') path='mv' ;;
      'cp') path='cp' ;;
      'publish') path='publish' ;;
      'unpublish') path='unpublish' ;;
      'share') path='share' ;;
      'unshare') path='unshare' ;;
      'collaborators') path='collaborators' ;;
      'star') path='star' ;;
      'unstar') path='unstar' ;;
      'path') path='path' ;;
      'sources') path='sources' ;;
      'extras') path='extras' ;;
      'extras list') path='extras list' ;;
      'extras add') path='extras add' ;;
      'extras cat') path='extras cat' ;;
      'reference') path='reference' ;;
      'reference drop') path='reference drop' ;;
      'trash') path='trash' ;;
      'restore') path='restore' ;;
      'delete') path='delete' ;;
      'team') path='team' ;;
      'team create') path='team create' ;;
      'team add') path='team add' ;;
      'team remove') path='team remove' ;;
      'team list') path='team list' ;;
      'key') path='key' ;;
      'key create') path='key create' ;;
      'key list') path='key list' ;;
      'key revoke') path='key revoke' ;;
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
    '') words='upload append cat ls show lookup mkdir plot column rename mv cp publish unpublish share unshare collaborators star unstar path sources extras reference trash restore delete team key api login logout whoami profile config serve admin completion --help --version' ;;
    'upload') words='--name --folder --public --on-conflict --delimiter --encoding --header --no-header --column --null --dry-run --json --jq -q --quiet --profile'; files=1 ;;
    'append') words='--row --format --delimiter --encoding --header --no-header --null --json --jq -q --quiet --profile'; files=1 ;;
    'cat') words='--format --columns --head --json --jq -q --quiet --profile'; files=0 ;;
    'ls') words='--all --shared --starred --trashed --type --order --limit --json --jq -q --quiet --profile'; files=0 ;;
    'show') words='--json --jq -q --quiet --profile'; files=0 ;;
    'lookup') words='--user --json --jq -q --quiet --profile'; files=0 ;;
    'mkdir') words='-p --parents --json --jq -q --quiet --profile'; files=0 ;;
    'plot') words='create update show data list feed pick unpick'; files=0 ;;
    'plot create') words='--name --folder --public --json --jq -q --quiet --profile'; files=0 ;;
    'plot update') words='--json --jq -q --quiet --profile'; files=0 ;;
    'plot show') words='--json --jq -q --quiet --profile'; files=0 ;;
    'plot data') words='--inline --unreadable --json --jq -q --quiet --profile'; files=0 ;;
    'plot list') words='--order --min-quality --limit --all --json --jq -q --quiet --profile'; files=0 ;;
    'plot feed') words='--json --jq -q --quiet --profile'; files=0 ;;
    'plot pick') words='--json --jq -q --quiet --profile'; files=0 ;;
    'plot unpick') words='--json --jq -q --quiet --profile'; files=0 ;;
    'column') words='list get set add rename remove'; files=0 ;;
    'column list') words='--json --jq -q --quiet --profile'; files=0 ;;
    'column get') words='--json --jq -q --quiet --profile'; files=0 ;;
    'column set') words='--data --order --json --jq -q --quiet --profile'; files=0 ;;
    'column add') words='--data --json --jq -q --quiet --profile'; files=0 ;;
    'column rename') words='--json --jq -q --quiet --profile'; files=0 ;;
    'column remove') words='--json --jq -q --quiet --profile'; files=0 ;;
    'rename') words='--json --jq -q --quiet --profile'; files=1 ;;
    'mv') words='--to --json --jq -q --quiet --profile'; files=1 ;;
    'cp') words='--to --name --deep --public --json --jq -q --quiet --profile'; files=1 ;;
    'publish') words='--json --jq -q --quiet --profile'; files=1 ;;
    'unpublish') words='--json --jq -q --quiet --profile'; files=1 ;;
    'share') words='--user --team --email --read-only --with-grids --notify --message --link --json --jq -q --quiet --profile'; files=1 ;;
    'unshare') words='--user --team --email --link --json --jq -q --quiet --profile'; files=1 ;;
    'collaborators') words='--json --jq -q --quiet --profile'; files=1 ;;
    'star') words='--json --jq -q --quiet --profile'; files=1 ;;
    'unstar') words='--json --jq -q --quiet --profile'; files=1 ;;
    'path') words='--json --jq -q --quiet --profile'; files=1 ;;
    'sources') words='--relation --json --jq -q --quiet --profile'; files=1 ;;
    'extras') words='list add cat'; files=0 ;;
    'extras list') words='--json --jq -q --quiet --profile'; files=1 ;;
    'extras add') words='--name --json --jq -q --quiet --profile'; files=1 ;;
    'extras cat') words='--json --jq -q --quiet --profile'; files=0 ;;
    'reference') words='drop'; files=0 ;;
    'reference drop') words='--json --jq -q --quiet --profile'; files=1 ;;
    'trash') words='--json --jq -q --quiet --profile'; files=1 ;;
    'restore') words='--json --jq -q --quiet --profile'; files=1 ;;
    'delete') words='-y --yes --json --jq -q --quiet --profile'; files=1 ;;
    'team') words='create add remove list'; files=0 ;;
    'team create') words='--json --jq -q --quiet --profile'; files=0 ;;
    'team add') words='--json --jq -q --quiet --profile'; files=0 ;;
    'team remove') words='-y --yes --json --jq -q --quiet --profile'; files=0 ;;
    'team list') words='--json --jq -q --quiet --profile'; files=0 ;;
    'key') words='create list revoke'; files=0 ;;
    'key create') words='--scopes --expires --label --json --jq -q --quiet --profile'; files=0 ;;
    'key list') words='--json --jq -q --quiet --profile'; files=0 ;;
    'key revoke') words='--json --jq -q --quiet --profile'; files=0 ;;
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
    'plot list --order') words='views'; files=0 ;;
    'sources --relation') words='parent child created plots source grids source URL'; files=0 ;;
    'serve --blobs') words='sql'; files=0 ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "$files" = 1 ]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _gridline gridline
