# gridline completion for bash
_gridline() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
  local path='' word words='' flags='' files=0 asked=0 line raw prefix
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) continue ;; esac
    case "${path:+$path }$word" in
      'upload') path='upload' ;;
      'ls') path='ls' ;;
      'cat') path='cat' ;;
      'plot') path='plot' ;;
      'plot create') path='plot create' ;;
      'plot update') path='plot update' ;;
      'plot show') path='plot show' ;;
      'plot data') path='plot data' ;;
      'plot list') path='plot list' ;;
      'plot feed') path='plot feed' ;;
      'plot pick') path='plot pick' ;;
      'plot unpick') path='plot unpick' ;;
      'open') path='open' ;;
      'show') path='show' ;;
      'path') path='path' ;;
      'mkdir') path='mkdir' ;;
      'mv') path='mv' ;;
      'cp') path='cp' ;;
      'rename') path='rename' ;;
      'trash') path='trash' ;;
      'restore') path='restore' ;;
      'delete') path='delete' ;;
      'star') path='star' ;;
      'unstar') path='unstar' ;;
      'sources') path='sources' ;;
      'file') path='file' ;;
      'file extras') path='file extras' ;;
      'file extras list') path='file extras list' ;;
      'file extras add') path='file extras add' ;;
      'file extras cat') path='file extras cat' ;;
      'file reference') path='file reference' ;;
      'file reference remove') path='file reference remove' ;;
      'pull') path='pull' ;;
      'push') path='push' ;;
      'append') path='append' ;;
      'column') path='column' ;;
      'column list') path='column list' ;;
      'column get') path='column get' ;;
      'column set') path='column set' ;;
      'column add') path='column add' ;;
      'column rename') path='column rename' ;;
      'column remove') path='column remove' ;;
      'describe') path='describe' ;;
      'watch') path='watch' ;;
      'image') path='image' ;;
      'preview') path='preview' ;;
      'share') path='share' ;;
      'unshare') path='unshare' ;;
      'collaborators') path='collaborators' ;;
      'publish') path='publish' ;;
      'unpublish') path='unpublish' ;;
      'login') path='login' ;;
      'logout') path='logout' ;;
      'whoami') path='whoami' ;;
      'profile') path='profile' ;;
      'profile list') path='profile list' ;;
      'profile use') path='profile use' ;;
      'profile remove') path='profile remove' ;;
      'key') path='key' ;;
      'key create') path='key create' ;;
      'key list') path='key list' ;;
      'key revoke') path='key revoke' ;;
      'team') path='team' ;;
      'team create') path='team create' ;;
      'team add') path='team add' ;;
      'team remove') path='team remove' ;;
      'team delete') path='team delete' ;;
      'team list') path='team list' ;;
      'serve') path='serve' ;;
      'admin') path='admin' ;;
      'admin create-user') path='admin create-user' ;;
      'admin create-key') path='admin create-key' ;;
      'admin verify') path='admin verify' ;;
      'admin backup') path='admin backup' ;;
      'admin restore') path='admin restore' ;;
      'admin compact') path='admin compact' ;;
      'admin trust') path='admin trust' ;;
      'admin trust add') path='admin trust add' ;;
      'admin trust list') path='admin trust list' ;;
      'admin trust remove') path='admin trust remove' ;;
      'api') path='api' ;;
      'mcp') path='mcp' ;;
      'doctor') path='doctor' ;;
      'config') path='config' ;;
      'config get') path='config get' ;;
      'config set') path='config set' ;;
      'config unset') path='config unset' ;;
      'config list') path='config list' ;;
      'completion') path='completion' ;;
    esac
  done
  case "$path" in
    '') words='upload ls cat plot open show path mkdir mv cp rename trash restore delete star unstar sources file pull push append column describe watch image preview share unshare collaborators publish unpublish login logout whoami profile key team serve admin api mcp doctor config completion help'; flags='--help --version' ;;
    'upload') words=''; flags='--name --folder --public --on-conflict --delimiter --encoding --header --no-header --null --quote --escape --skip --comment --decimal --thousands --sheet --range --flatten --column --allow-type-change --plot --x --y --color --size --text --title -y --yes --include --exclude --jobs --provenance --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=1; asked=1 ;;
    'ls') words=''; flags='--all --shared --starred --trashed --type --order --limit --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'cat') words=''; flags='--format --columns --limit --tail --sample -f --follow --no-pager --json --jq -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'plot') words='create update show data list feed pick unpick'; flags=''; files=0; asked=0 ;;
    'plot create') words=''; flags='--name --folder --public --on-conflict --grid --type --x --y --color --size --text --title --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=1; asked=1 ;;
    'plot update') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=1; asked=1 ;;
    'plot show') words=''; flags='--json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'plot data') words=''; flags='--inline --unreadable --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'plot list') words=''; flags='--public --order --min-quality --all --limit --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'plot feed') words=''; flags='--limit --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'plot pick') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'plot unpick') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'open') words=''; flags='--no-browser --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'show') words=''; flags='--json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'path') words=''; flags='--json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'mkdir') words=''; flags='-p --parents --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'mv') words=''; flags='--to --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'cp') words=''; flags='--to --name --deep --public --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'rename') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'trash') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'restore') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'delete') words=''; flags='-y --yes --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'star') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'unstar') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'sources') words=''; flags='--relation --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'file') words='extras reference'; flags=''; files=0; asked=0 ;;
    'file extras') words='list add cat'; flags=''; files=0; asked=0 ;;
    'file extras list') words=''; flags='--limit --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'file extras add') words=''; flags='--name --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=1; asked=1 ;;
    'file extras cat') words=''; flags='--json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'file reference') words='remove'; flags=''; files=0; asked=0 ;;
    'file reference remove') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'pull') words=''; flags='--format --jobs --force --dry-run --json --jq -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'push') words=''; flags='--to --folder --public --on-conflict --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'append') words=''; flags='--row --format --delimiter --encoding --header --no-header --null --quote --escape --skip --comment --decimal --thousands --allow-type-change --dry-run --idempotency-key --json --jq -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=1; asked=1 ;;
    'column') words='list get set add rename remove'; flags=''; files=0; asked=0 ;;
    'column list') words=''; flags='--limit --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'column get') words=''; flags='--json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'column set') words=''; flags='--data --order -y --yes --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'column add') words=''; flags='--data --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'column rename') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'column remove') words=''; flags='-y --yes --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'describe') words=''; flags='--columns --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'watch') words=''; flags='--folder --public --on-conflict --delimiter --encoding --header --no-header --null --quote --escape --skip --comment --decimal --thousands --sheet --range --flatten --column --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=1; asked=1 ;;
    'image') words=''; flags='-o --output --format --width --height --scale --json --jq -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=1; asked=1 ;;
    'preview') words=''; flags='--json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=1; asked=1 ;;
    'share') words=''; flags='--user --team --email --read-only --with-grids --notify --message --link --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'unshare') words=''; flags='--user --team --email --link --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'collaborators') words=''; flags='--limit --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'publish') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'unpublish') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'login') words=''; flags='--user --no-browser --oidc --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'logout') words=''; flags='--json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'whoami') words=''; flags='--json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'profile') words='list use remove'; flags=''; files=0; asked=0 ;;
    'profile list') words=''; flags='--limit --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'profile use') words=''; flags='--json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'profile remove') words=''; flags='--json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'key') words='create list revoke'; flags=''; files=0; asked=0 ;;
    'key create') words=''; flags='--scopes --expires --label --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'key list') words=''; flags='--limit --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'key revoke') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'team') words='create add remove delete list'; flags=''; files=0; asked=0 ;;
    'team create') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'team add') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'team remove') words=''; flags='--dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'team delete') words=''; flags='-y --yes --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'team list') words=''; flags='--limit --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'serve') words=''; flags='--host --port --database --url --proxies --smtp --mail-from --allow-url-import --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'admin') words='create-user create-key verify backup restore compact trust'; flags=''; files=0; asked=0 ;;
    'admin create-user') words=''; flags='--email --admin --database --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'admin create-key') words=''; flags='--scopes --expires --label --database --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'admin verify') words=''; flags='--database --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'admin backup') words=''; flags='--database --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=1; asked=1 ;;
    'admin restore') words=''; flags='--yes --database --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=1; asked=1 ;;
    'admin compact') words=''; flags='--database --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'admin trust') words='add list remove'; flags=''; files=0; asked=0 ;;
    'admin trust add') words=''; flags='--user --scopes --database --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'admin trust list') words=''; flags='--database --limit --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'admin trust remove') words=''; flags='--database --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'api') words=''; flags='-f --raw-field -F --field -H --header --input --paginate -i --include --dry-run --idempotency-key --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'mcp') words=''; flags='--allow-write --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'doctor') words=''; flags='--no-chromium --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'config') words='get set unset list'; flags=''; files=0; asked=0 ;;
    'config get') words=''; flags='--json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'config set') words=''; flags='--json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'config unset') words=''; flags='--json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'config list') words=''; flags='--limit --json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
    'completion') words=''; flags='--json --jq --format -q --quiet --profile --local --progress --output-file --verbose --ca-file --timeout'; files=0; asked=1 ;;
  esac
  case "$path $previous" in
    'upload --on-conflict') words='fail rename replace append'; files=0; asked=0 ;;
    'upload --plot') words='scatter line bar area box violin histogram heatmap pie'; files=0; asked=0 ;;
    'upload --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'ls --type') words='grid plot folder'; files=0; asked=0 ;;
    'ls --order') words='filename -filename date_modified -date_modified'; files=0; asked=0 ;;
    'ls --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'cat --format') words='json csv tsv ndjson table'; files=0; asked=0 ;;
    'cat --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'plot create --on-conflict') words='fail rename replace'; files=0; asked=0 ;;
    'plot create --type') words='scatter line bar area box violin histogram heatmap pie'; files=0; asked=0 ;;
    'plot create --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'plot update --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'plot show --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'plot data --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'plot list --order') words='views'; files=0; asked=0 ;;
    'plot list --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'plot feed --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'plot pick --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'plot unpick --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'open --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'show --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'path --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'mkdir --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'mv --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'cp --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'rename --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'trash --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'restore --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'delete --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'star --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'unstar --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'sources --relation') words='parent child created plots source grids source URL'; files=0; asked=0 ;;
    'sources --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'file extras list --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'file extras add --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'file extras cat --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'file reference remove --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'pull --format') words='csv tsv ndjson json'; files=0; asked=0 ;;
    'pull --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'push --on-conflict') words='fail skip'; files=0; asked=0 ;;
    'push --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'append --format') words='csv tsv ndjson'; files=0; asked=0 ;;
    'append --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'column list --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'column get --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'column set --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'column add --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'column rename --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'column remove --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'describe --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'watch --on-conflict') words='fail replace'; files=0; asked=0 ;;
    'watch --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'image --format') words='png svg jpeg webp pdf'; files=0; asked=0 ;;
    'image --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'preview --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'share --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'unshare --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'collaborators --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'publish --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'unpublish --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'login --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'logout --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'whoami --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'profile list --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'profile use --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'profile remove --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'key create --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'key list --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'key revoke --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'team create --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'team add --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'team remove --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'team delete --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'team list --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'serve --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'admin create-user --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'admin create-key --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'admin verify --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'admin backup --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'admin restore --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'admin compact --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'admin trust add --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'admin trust list --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'admin trust remove --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'api --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'mcp --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'doctor --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'config get --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'config set --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'config unset --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'config list --progress') words='auto bar plain none'; files=0; asked=0 ;;
    'completion --progress') words='auto bar plain none'; files=0; asked=0 ;;
  esac
  COMPREPLY=()
  # Options only after a dash, so that Tab never inserts one.
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$current")); return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "$files" = 1 ]; then
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
  fi
  if [ "$asked" = 1 ]; then
    # Readline splits words at colons, which ids have.
    raw="${COMP_LINE:0:COMP_POINT}"; raw="${raw##* }"
    prefix="${raw%"${raw##*:}"}"
    while IFS= read -r line; do
      COMPREPLY+=("${line#"$prefix"}")
      case "$line" in */) compopt -o nospace 2>/dev/null ;; esac
    done < <(gridline __complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$raw" 2>/dev/null)
  fi
}
complete -o filenames -F _gridline gridline
