import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assert, suite } from './support/suite.ts'

const setup = fileURLToPath(new URL('../setup.mjs', import.meta.url))
const test = suite('the setup script', { folder: '' })

test.before(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'setup-'))
  await copyFile(setup, join(context.folder, 'setup.mjs'))
})

test.after(({ folder }) => rm(folder, { recursive: true }))

test('the setup lists its commands on one line if the command is unknown', async () => {
  const { code, stderr } = await run(setup, ['nonsense'])
  assert.is(stderr, 'setup: choose a task: start, test, unit, generate, build, check, bench, docs, release, pack\n')
  assert.is(code, 1)
})

for (const version of ['16.20.2', '18.20.8', '20.18.0']) {
  test(`the setup reports that Node ${version} is too old before it installs anything`, async ({ folder }) => {
    const pretend = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`
    const { code, stderr } = await run(join(folder, 'setup.mjs'), ['start'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(pretend)}`,
    })
    assert.is(stderr, `setup: Node.js ${version} is too old. Install 20.18.1 or later: https://nodejs.org\n`)
    assert.is(code, 1)
  })
}

for (const [name, value, option] of [
  ['demo', 'true', '--demo'],
  ['new_token', 'true', '--new-token'],
  ['log', 'true', '--log'],
  ['dashboard', 'true', '--dashboard'],
  ['metrics', 'true', '--metrics'],
  ['port', '5000', '--port=5000'],
  ['data', './d', '--data=./d'],
  ['config', './c.yaml', '--config=./c.yaml'],
  ['open', 'true', '--open'],
  ['env', '', '--no-env'],
] as const) {
  test(`the setup reports that npm consumed ${option} as its own option`, async ({ folder }) => {
    const { code, stderr } = await run(join(folder, 'setup.mjs'), ['start'], { [`npm_config_${name}`]: value })
    const [taken] = option.split('=')
    assert.is(stderr, `setup: npm consumed ${taken}. Put a -- before it: npm start -- ${option}\n`)
    assert.is(code, 1)
  })
}

test('the test command reports that npm consumed --all as its own option', async ({ folder }) => {
  const { code, stderr } = await run(join(folder, 'setup.mjs'), ['test'], { npm_config_all: 'true' })
  assert.is(stderr, 'setup: npm consumed --all. Put a -- before it: npm test -- --all\n')
  assert.is(code, 1)
})

for (const [args, installed] of [
  [[], []],
  [['huge/it'], ['test/runtimes']],
  [['--all'], ['test/runtimes', 'test/big', 'test/huge']],
  [
    ['--all', 'huge/it'],
    ['test/runtimes', 'test/huge'],
  ],
] as const) {
  test(`\`test ${args.join(' ')}\` installs ${installed.join(', ') || "no folder's packages"}`, async ({ folder }) => {
    const location = await project(await mkdtemp(join(folder, 'heavy-')), {
      ...BUILDS,
      'test/heavy.json': '["big", "huge"]',
      'test/run.ts': "console.log('runs', ...process.argv.slice(2))",
      'test/big/it.test.ts': '',
      'test/huge/it.test.ts': '',
      'test/runtimes/package.json': '{}',
      'bin/npm': '#!/bin/sh\npwd >> "$NPM_LOG"\n',
    })
    await chmod(join(location, 'bin', 'npm'), 0o755)
    const log = join(location, 'npm.txt')
    const env = { PATH: `${join(location, 'bin')}:${process.env.PATH}`, NPM_LOG: log }
    const { code, stderr, stdout } = await run(join(location, 'setup.mjs'), ['test', ...args], env)
    assert.is(stderr || code, 0)
    assert.match(stdout, new RegExp(`^${['runs', ...args].join(' ')}$`, 'm'))
    const folders = (await readFile(log, 'utf8').catch(() => '')).split('\n').filter(Boolean)
    assert.equal(folders.map((path) => relative(location, path)).sort(), [...installed].sort())
  })
}

test('`check --all` builds and installs everything, and fails on type errors', async ({ folder }) => {
  const location = await project(await mkdtemp(join(folder, 'checked-')), {
    ...BUILDS,
    'test/heavy.json': '["big"]',
    'test/big/it.test.ts': '',
    'test/runtimes/package.json': '{}',
    'node_modules/@biomejs/biome/bin/biome': '',
    'node_modules/tsc7/bin/tsc': "process.exit(process.argv.includes('tsconfig.test.json') ? 2 : 0)",
    'bin/npm': '#!/bin/sh\npwd >> "$NPM_LOG"\n',
  })
  await chmod(join(location, 'bin', 'npm'), 0o755)
  const log = join(location, 'npm.txt')
  const env = { PATH: `${join(location, 'bin')}:${process.env.PATH}`, NPM_LOG: log }
  const bad = await run(join(location, 'setup.mjs'), ['check', '--all'], env)
  assert.equal([bad.code, bad.stderr], [1, 'setup: the check failed (1 of 5 steps)\n'])
  assert.ok((await readdir(location)).includes('dist'))
  const installed = (await readFile(log, 'utf8')).trim().split('\n')
  assert.equal(installed.map((path) => relative(location, path)).sort(), ['test/big', 'test/runtimes'])

  await writeFile(join(location, 'node_modules/tsc7/bin/tsc'), '')
  const good = await run(join(location, 'setup.mjs'), ['check', '--all'], env)
  assert.equal([good.code, good.stderr], [0, ''])
})

/** Returns the package folders that heavy tests need: their own, or the documentation site's. */
async function heavyPackages(): Promise<string[]> {
  const names: string[] = JSON.parse(await readFile(join(dirname(setup), 'test/heavy.json'), 'utf8'))
  return names.map((name) => (name === 'site' ? 'docs' : `test/${name}`))
}

test("each heavy folder's lockfile has the same packages as its package.json", async () => {
  const folders = await heavyPackages()
  assert.ok(folders.length > 0)
  for (const folder of folders) {
    const at = (name: string) => join(dirname(setup), folder, name)
    const { devDependencies } = JSON.parse(await readFile(at('package.json'), 'utf8'))
    const { packages } = JSON.parse(await readFile(at('package-lock.json'), 'utf8'))
    assert.equal(packages[''].devDependencies, devDependencies, folder)
  }
})

test("lockfiles contain the packages' dependencies for every platform", async () => {
  for (const folder of ['', 'test/runtimes']) {
    const { packages }: Lock = JSON.parse(await readFile(join(dirname(setup), folder, 'package-lock.json'), 'utf8'))
    const missing = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !isFound(name, path, packages))
        .map((name) => `${name} of ${path}`),
    )
    assert.equal(missing, [], folder)
  }
})

test('lockfiles contain the hash of each package, including those for other platforms', async () => {
  for (const folder of ['', 'test/runtimes', ...(await heavyPackages())]) {
    const { packages }: Lock = JSON.parse(await readFile(join(dirname(setup), folder, 'package-lock.json'), 'utf8'))
    const bare = Object.entries(packages).filter(
      ([path, { integrity, link, inBundle }]) => path && !(integrity || link || inBundle),
    )
    assert.equal(
      bare.map(([path]) => path),
      [],
      folder,
    )
  }
})

test('if npm is missing, the setup says so in one line', async ({ folder }) => {
  const { code, stderr } = await run(join(folder, 'setup.mjs'), ['start'], { PATH: dirname(process.execPath) })
  assert.is(stderr, 'setup: cannot run npm: spawn npm ENOENT\n')
  assert.is(code, 1)
})

test('if npm fails, the setup explains why in one line', async ({ folder }) => {
  const { code, stderr } = await run(join(folder, 'setup.mjs'), ['start'])
  assert.match(stderr, /^setup: npm could not install dependencies: .*package-lock\.json.*\n$/)
  assert.is(code, 1)
})

test('two concurrent first starts succeed, even if their builds finish at the same moment', async ({ folder }) => {
  const location = await project(await mkdtemp(join(folder, 'twice-')), BUILDS)
  for (let time = 0; time < 5; time++) {
    await rm(join(location, 'dist'), { recursive: true, force: true })
    const both = await Promise.all([
      run(join(location, 'setup.mjs'), ['start']),
      run(join(location, 'setup.mjs'), ['start']),
    ])
    assert.equal(
      both.map(({ code, stderr }) => stderr || code),
      [0, 0],
    )
  }
  assert.equal(
    (await readdir(location)).filter((name) => name.startsWith('dist')),
    ['dist'],
  )
})

test("the setup prints build progress to stderr, so stdout contains only the command's output", async ({ folder }) => {
  const location = await project(await mkdtemp(join(folder, 'json-')), {
    ...BUILDS,
    'src/cli/catalog/check.ts': "console.log('checked')",
    'src/cli/config-schema/write.ts': '',
    'node_modules/tsup/dist/cli-default.js': `
import { mkdirSync, writeFileSync } from 'node:fs'
console.log('built')
mkdirSync(process.env.BUILD_OUT)
writeFileSync(process.env.BUILD_OUT + '/index.js', '')
writeFileSync(process.env.BUILD_OUT + '/cli.js', 'console.log(JSON.stringify(process.argv.slice(2)))')
`,
  })
  const { code, stdout, stderr } = await run(join(location, 'setup.mjs'), ['start', 'keys', '--json'])
  assert.equal([code, stdout], [0, '["keys","--json"]\n'])
  assert.is(stderr, 'Building...\nchecked\nbuilt\n')
})

for (const script of ['start', 'test']) {
  test(`npm ${script} forwards SIGTERM and waits until the program has ended`, async ({ folder }) => {
    const { scripts }: { scripts: object } = JSON.parse(await readFile(join(dirname(setup), 'package.json'), 'utf8'))
    const location = await mkdtemp(join(folder, 'npm-'))
    await writeFile(join(location, 'package.json'), JSON.stringify({ scripts }))
    await writeFile(join(location, 'setup.mjs'), DRAINS)
    const npm = spawn('npm', [script], { cwd: location, stdio: ['ignore', 'pipe', 'ignore'] })
    let stdout = ''
    npm.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text
      if (/^ready$/m.test(text)) npm.kill('SIGTERM')
    })
    const [code] = await once(npm, 'exit')
    assert.is(code, 0)
    assert.match(stdout, /drained/)
  })
}

/** Creates a project that starts `program` with a Node other than this machine's. */
async function onOtherNode(folder: string, program: string): Promise<string> {
  const location = await project(await mkdtemp(join(folder, 'other-')), {
    ...BUILDS,
    'node_modules/tsup/dist/cli-default.js': `
import { mkdirSync, writeFileSync } from 'node:fs'
mkdirSync(process.env.BUILD_OUT)
writeFileSync(process.env.BUILD_OUT + '/index.js', '')
writeFileSync(process.env.BUILD_OUT + '/cli.js', ${JSON.stringify(program)})
`,
  })
  const node = join(location, 'node_modules', '.bin', 'node')
  await rm(node)
  await writeFile(node, `#!/bin/sh\nON_OTHER_NODE=yes exec '${process.execPath}' "$@"\n`, { mode: 0o755 })
  return join(location, 'setup.mjs')
}

test('the setup runs the program on the installed Node, with its arguments, stdin, and exit code', async ({
  folder,
}) => {
  const path = await onOtherNode(
    folder,
    `process.stdin.on('data', (text) => {
      console.log(process.env.ON_OTHER_NODE, process.argv.slice(2).join(' '), String(text))
      process.exit(7)
    })`,
  )
  const child = spawn(process.execPath, [path, 'start', 'keys', 'list'], { stdio: ['pipe', 'pipe', 'ignore'] })
  let stdout = ''
  child.stdout.on('data', (text) => {
    stdout += text
  })
  child.stdin.end('typed')
  const [code] = await once(child, 'close')
  assert.equal([code, stdout], [7, 'yes keys list typed\n'])
})

const DRAINS_ON = `
const left = setTimeout(() => process.exit(3), 20_000)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
  process.on(signal, () => setTimeout(() => { console.log('drained'); clearTimeout(left) }, 100))
console.log('ready', process.pid)`

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const)
  test(`a program started by the setup shuts down cleanly when its parent gets ${signal}`, async ({ folder }) => {
    const child = spawn(process.execPath, [await onOtherNode(folder, DRAINS_ON), 'start'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text
      if (/^ready/m.test(text)) child.kill(signal)
    })
    const [code, killedBy] = await once(child, 'close') // after both streams have ended
    assert.match(stdout, /drained/)
    assert.equal([code, killedBy], signal === 'SIGKILL' ? [null, signal] : [0, null])
  })

test('the setup ends with the same signal that ended the program', async ({ folder }) => {
  const path = await onOtherNode(folder, "process.kill(process.pid, 'SIGTERM')\nsetTimeout(() => {}, 5_000)")
  const child = spawn(process.execPath, [path, 'start'], { stdio: 'ignore' })
  assert.equal(await once(child, 'close'), [null, 'SIGTERM'])
})

test('each script starts with a word that both sh and cmd.exe know', async () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    await readFile(join(dirname(setup), 'package.json'), 'utf8'),
  )
  for (const [name, line] of Object.entries(scripts)) assert.match(line, /^(?:exec )?(?:node|biome) [\w./ -]+$/, name)
  assert.match(await readFile(join(dirname(setup), 'exec.cmd'), 'utf8'), /^@rem [^%]*\r\n@%\*\r\n$/)
})

interface Lock {
  packages: Record<
    string,
    {
      dependencies?: Record<string, string>
      optionalDependencies?: Record<string, string>
      integrity?: string
      link?: boolean
      inBundle?: boolean
    }
  >
}

/** Returns whether a package with this name is in the folder of the package that needs it, or in a parent folder. */
function isFound(name: string, path: string, packages: Lock['packages']): boolean {
  if (Object.hasOwn(packages, join(path, 'node_modules', name))) return true
  return path !== '' && isFound(name, path.slice(0, Math.max(0, path.lastIndexOf('node_modules/') - 1)), packages)
}

/** Writes a project with this setup script and these files to a folder. */
async function project(location: string, files: Record<string, string>): Promise<string> {
  await mkdir(join(location, 'node_modules', '.bin'), { recursive: true })
  await symlink(process.execPath, join(location, 'node_modules', '.bin', 'node'))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(location, path)), { recursive: true })
    await writeFile(join(location, path), text)
  }
  await copyFile(setup, join(location, 'setup.mjs'))
  return location
}

/** A project whose builds have many parts that finish together. */
const BUILDS = {
  'package.json': '{"type":"module"}',
  'package-lock.json': '{"packages":{"":{}}}',
  'node_modules/.package-lock.json': '{"packages":{"":{}}}',
  'src/cli/catalog/check.ts': '',
  'src/cli/config-schema/write.ts': '',
  'node_modules/tsup/package.json': '{"type":"module"}',
  'node_modules/tsup/dist/cli-default.js': `
import { mkdirSync, writeFileSync } from 'node:fs'
const out = process.env.BUILD_OUT
const parts = Array.from({ length: 150 }, (_, at) => 'part-' + at + '.js')
mkdirSync(out)
for (const part of ['index.js', ...parts]) writeFileSync(out + '/' + part, '')
writeFileSync(out + '/cli.js', parts.map((part) => 'import "./' + part + '"').join('\\n'))
setTimeout(() => {}, 500 - (Date.now() % 500))
`,
}

/** Ends some time after a signal, or on its own without one. */
const DRAINS = `
const left = setTimeout(() => process.exit(3), 5_000)
process.on('SIGTERM', () => setTimeout(() => { console.log('drained'); clearTimeout(left) }, 100))
console.log('ready')
`

function run(
  path: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [path, ...args],
      { env: { ...process.env, ...env } },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })
}
