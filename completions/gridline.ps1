# gridline completion for PowerShell
Register-ArgumentCompleter -Native -CommandName gridline -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $given = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
    ForEach-Object { if ($_.PSObject.Properties['Value']) { "$($_.Value)" } else { $_.ToString() } })
  # Before 7.3, PowerShell drops empty arguments.
  if ($wordToComplete -eq '') { $given += if ($PSVersionTable.PSVersion -ge [version]'7.3') { '' } else { '""' } }
  # Nothing but :files: PowerShell offers files by itself.
  gridline __complete @given 2>$null | Where-Object { $_ -ne ':files' } | ForEach-Object {
    $word, $summary = $_ -split "`t", 2
    if (-not $summary) { $summary = $word }
    $text = if ($word -match '^[\w./:,=-]+$') { $word } else { "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($word) + "'" }
    [System.Management.Automation.CompletionResult]::new($text, $word, 'ParameterValue', $summary)
  }
}
