/*
 * Prepares a fresh clone to start, build, check, or test. It needs only Node.js and npm:
 *   node setup.mjs start [arguments of the command line]
 *   node setup.mjs test [--all] [--isolate] [part of a path ...]
 *   node setup.mjs unit [--isolate] [part of a path ...]
 *   node setup.mjs build
 *   node setup.mjs check [--all [part of a path ...]]
 *   node setup.mjs bench [--check] [--rounds N] [--seconds N] [--only part]
 *   node setup.mjs docs [dev | preview | versions]
 *   node setup.mjs release --check [--tag v0.2.0] [--out folder] [--files] [--only part]
 *   node setup.mjs pack
 * It skips steps that are up to date. Folders in test/heavy.json have their own packages, which only `test --all` installs.
 * Without `--all` or part of a path, `test` and `unit` skip the long tests listed in test/long.json.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { delimiter, join, relative, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('.', import.meta.url))
const at = (...parts) => join(root, ...parts)
const isWindows = process.platform === 'win32'
const node = isWindows ? at('node_modules', 'node', 'bin', 'node.exe') : at('node_modules', '.bin', 'node')
const runtimes = at('test', 'runtimes')
const site = at('docs')
const cache = at('node_modules', '.cache', 'signalbox')
/** The programs that make a build, in order. */
const STEPS = ['src/cli/catalog/check.ts', 'node_modules/tsup/dist/cli-default.js', 'src/cli/config-schema/write.ts']
/** The signals that a program gets which `start` runs in a process of its own. */
const PASSED = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']
/** Makes a program end as on SIGTERM when the process that has started it is gone, of which no signal tells it. */
const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(`
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel?.unref()
`)}`

/** Those of the command line, which npm does not hand on unless told. */
const options = [
  'demo',
  'new-token',
  'log',
  'dashboard',
  'metrics',
  'port',
  'host',
  'allowed-host',
  'allowed-origin',
  'data',
  'config',
  'open',
  'no-env',
]
/** npm takes `--no-env` for an empty `env`. */
const npmName = (option) => `npm_config_${option.replace(/^no-/, '').replace('-', '_')}`
const isTaken = (option) =>
  option.startsWith('no-') ? process.env[npmName(option)] === '' : process.env[npmName(option)] !== undefined
const tasks = { start, test, unit, build: () => build('full'), check, bench, docs, release, pack }

const [major, minor, patch] = process.versions.node.split('.').map(parseFloat)
if (major * 1e6 + minor * 1e3 + patch < 20018001)
  fail(`Node.js ${process.versions.node} is too old. Install 20.18.1 or later: https://nodejs.org`)

const [name, ...args] = process.argv.slice(2)
if (!Object.hasOwn(tasks, name ?? '')) fail(`choose a task: ${Object.keys(tasks).join(', ')}`)
const isForCommand = name === 'start' && args[0] !== undefined && !args[0].startsWith('-')
process.chdir(root)
await tasks[name](args).catch((error) => fail(error.message))

async function start(args) {
  refuseTaken('start', options)
  await install(root)
  await build('quick')
  const cli = at('dist', 'cli.js')
  if (!existsSync(cli)) throw new Error('the build has no dist/cli.js')
  if (realpathSync(process.execPath) !== realpathSync(node)) return handOver([cli, ...args])
  // In this process: signals and the exit code are the program's own.
  process.argv = [process.argv[0], cli, ...args]
  await import(pathToFileURL(cli).href)
}

/**
 * Runs a program on the Node of the packages, in place of the machine's, which may be too old for it: the terminal, the signals and the exit code
 * are the program's own.
 */
async function handOver(args) {
  const options = isWindows ? [] : ['--import', END_WITH_PARENT]
  const stdio = isWindows ? 'inherit' : ['inherit', 'inherit', 'inherit', 'ipc']
  const child = spawn(node, [...options, ...args], { stdio })
  const pass = (signal) => child.kill(signal) // a terminal sends it to the child as well, which takes both for one
  for (const signal of PASSED) process.on(signal, pass)
  const { code, signal } = await new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`cannot run ${node}: ${error.message}`)))
    child.on('exit', (code, signal) => resolve({ code, signal }))
  })
  for (const signal of PASSED) process.off(signal, pass)
  if (signal && !isWindows) process.kill(process.pid, signal)
  else process.exit(code ?? 1)
}

async function test(args) {
  refuseTaken('test', ['all'])
  await prepare(args)
  process.exitCode = (await run(node, ['test/run.ts', ...args])).code
}

/** Installs and builds what tests need, side by side, because an install mostly waits. */
async function prepare(args) {
  await install(root)
  const isAll = args.includes('--all')
  const isShort = !isAll && readFilters(args).length === 0 // its tests run on Node alone
  await settleAll([
    build('full'),
    ...(isShort ? [] : [install(runtimes)]),
    ...(isAll ? heavyFolders(args) : []).map((folder) => install(folder, { isHeavy: true })),
  ])
}

/** Without a build. */
async function unit(args) {
  await install(root)
  process.exitCode = (await run(node, ['test/run.ts', ...args])).code
}

/** Builds the documentation site as static files in docs/dist, or serves it. `versions` builds what is published: the release and the next version. */
async function docs(args) {
  await install(root)
  if (args[0] === 'versions') {
    process.exitCode = (await run(node, ['docs/versions.mjs'])).code
    return
  }
  await install(site, { isHeavy: true })
  if ((await run(node, ['docs/prepare.ts'])).code !== 0) throw new Error('could not prepare the references')
  const env = { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' }
  const [command = 'build', ...options] = args
  // Astro keeps rendered pages, also when a plugin has changed.
  const force = command === 'build' ? ['--force'] : []
  const astro = join(site, 'node_modules', 'astro', 'bin', 'astro.mjs')
  process.exitCode = (await run(node, [astro, command, ...force, ...options], { cwd: site, env })).code
}

/** Checks the package as its users get it. */
async function release(args) {
  await install(root)
  await settleAll([build('full'), ...(args.includes('--files') ? [] : [install(runtimes)])])
  process.exitCode = (await run(node, ['test/release/check.ts', ...args])).code
}

/** Makes what the package has beside the files of the repository. */
async function pack() {
  await build('full')
  if ((await run(node, ['llms.mjs'])).code !== 0) throw new Error('could not create llms.txt')
}

/** Waits for all of them, so that nothing is still at work when the first reason is thrown. */
async function settleAll(works) {
  const failed = (await Promise.allSettled(works)).find(({ status }) => status === 'rejected')
  if (failed) throw failed.reason
}

/** npm takes an option for itself that no -- stands before. */
function refuseTaken(script, options) {
  const taken = options.find(isTaken)
  if (!taken) return
  const value = process.env[npmName(taken)]
  const option = value === 'true' || value === '' ? `--${taken}` : `--${taken}=${value}`
  const npm = isWindows ? 'npm.cmd' : 'npm' // that of PowerShell drops the --
  throw new Error(`npm consumed --${taken}. Put a -- before it: ${npm} ${script} -- ${option}`)
}

function readFilters(args) {
  return args.filter((arg) => !arg.startsWith('-'))
}

/** The heavy folders that the run looks into: all of them, or those that a filter names or that hold a file which it matches. */
function heavyFolders(args) {
  const filters = readFilters(args)
  const holds = (name, filter) =>
    filter.includes(`${name}/`) || readdirSync(at('test', name)).some((file) => `test/${name}/${file}`.includes(filter))
  return readJson(at('test', 'heavy.json'))
    .filter((name) => filters.length === 0 || filters.some((filter) => holds(name, filter)))
    .map((name) => (name === 'site' ? site : at('test', name))) // the tests of the site run on its own packages
}

async function bench(args) {
  refuseTaken('run bench', ['check', 'suggest'])
  await build(args.includes('--check') ? 'full' : 'quick') // the tests of .ci/run, which come next, need all of it
  process.exitCode = (await run(node, ['test/bench/run.ts', ...args])).code
}

/** With `--all`, it prepares a run of all tests as well. */
async function check(args) {
  if (args.includes('--all')) await prepare(args)
  else {
    await install(root)
    await install(runtimes) // tests use their types
  }
  const projects = [
    'tsconfig.json',
    'tsconfig.node.json',
    'tsconfig.test.json',
    'src/features/dashboard/page/tsconfig.json',
  ]
  const runs = [['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '--max-diagnostics=200']]
  for (const project of projects) runs.push(['node_modules/tsc7/bin/tsc', '--noEmit', '-p', project])
  let failures = 0
  for (const args of runs) failures += (await run(node, args)).code === 0 ? 0 : 1
  if (failures > 0) throw new Error(`the check failed (${failures} of ${runs.length} steps)`)
}

/**
 * Installs what the lock names, unless that is what is there. The lock of a heavy folder may lack packages for other platforms, for which
 * `npm ci` would refuse it: not every registry has them all.
 */
async function install(folder, { isHeavy = false } = {}) {
  const isMissing = !existsSync(join(folder, 'node_modules'))
  if (!isMissing && isInstalled(folder)) return
  const label = folder === root ? 'dependencies' : `dependencies of ${relative(root, folder)}`
  progress(`Installing ${label}...`)
  const how = isMissing && !isHeavy ? ['ci'] : ['install', '--no-save']
  const flags = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = isWindows ? 'npm.cmd' : 'npm'
  const { code, stderr } = await run(npm, [...how, ...flags], { cwd: folder, env: outsideEnv(), quiet: true })
  if (code !== 0) throw new Error(`npm could not install ${label}: ${reason(stderr)}`)
  if (folder === root && !existsSync(node))
    throw new Error('npm ran no install scripts. Allow them for "node" and "esbuild".')
}

/** Does the list npm keeps of what it has installed hold the versions of the lock? */
function isInstalled(folder) {
  const wanted = readJson(join(folder, 'package-lock.json'))?.packages
  const present = readJson(join(folder, 'node_modules', '.package-lock.json'))?.packages
  if (!wanted || !present || (folder === root && !existsSync(node))) return false
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' || (optional && !present[path]) || present[path]?.version === version,
  )
}

/** Builds into a folder of its own and swaps it in, so that a failed build or a second one at a time harms nothing. */
async function build(kind) {
  await install(root)
  const stampPath = join(cache, 'build.json')
  const sources = fingerprint([
    'src',
    'adapters',
    'tsup.config.ts',
    'tsconfig.base.json',
    'package.json',
    'package-lock.json',
  ])
  const isBuilt = () => {
    const stamp = existsSync(at('dist', 'index.js')) ? readJson(stampPath) : undefined
    return stamp?.sources === sources && (stamp.kind === 'full' || kind === 'quick')
  }
  if (isBuilt()) return
  progress(kind === 'quick' ? 'Building...' : 'Building with types...')
  const out = `dist-build-${process.pid}`
  const env = { ...process.env, BUILD_OUT: out, BUILD_QUICK: kind === 'quick' ? '1' : '0' }
  try {
    for (const step of STEPS) {
      const { code } = await run(node, [step], { env, toStderr: isForCommand })
      if (code !== 0) throw new Error('the build failed')
    }
    await alone(async () => {
      if (isBuilt()) return // by a second one, which may have been started from
      await swapIn(out)
      await writeFile(`${stampPath}.new`, JSON.stringify({ kind, sources }))
      await rename(`${stampPath}.new`, stampPath) // others may be reading it
    })
  } finally {
    await rm(at(out), { recursive: true, force: true })
  }
}

/** Removes the last build only when the new one is in its place: a gateway that runs from it loads some parts late. */
async function swapIn(out) {
  const last = at(`${out}-last`)
  if (existsSync(at('dist'))) await rename(at('dist'), last)
  await rename(at(out), at('dist'))
  await rm(last, { recursive: true, force: true, maxRetries: 5 }) // Windows: a scanner may look at it
}

/** Does what only one process may do at a time. A lock that a killed one has left counts for ten seconds. */
async function alone(work) {
  const lock = join(cache, 'lock')
  await mkdir(cache, { recursive: true })
  while (!(await tryLock(lock))) await sleep(50)
  try {
    await work()
  } finally {
    await rm(lock, { recursive: true, force: true })
  }
}

async function tryLock(lock) {
  try {
    await mkdir(lock)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    const since = await stat(lock).catch(() => undefined)
    if (since && Date.now() - since.mtimeMs > 10_000) await rm(lock, { recursive: true, force: true })
    return false
  }
}

function fingerprint(paths) {
  const hash = createHash('sha256')
  const add = (path) => {
    if (!existsSync(at(path))) return
    hash.update(path)
    hash.update(readFileSync(at(path)))
  }
  for (const path of paths) {
    if (path.includes('.') || !existsSync(at(path))) add(path)
    else {
      const files = readdirSync(at(path), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      for (const file of files.map((entry) => join(entry.parentPath ?? entry.path, entry.name)).sort())
        add(file.slice(root.length))
    }
  }
  return hash.digest('hex')
}

/** The environment without this package's own commands: npm must not run on the Node that it is about to replace. */
function outsideEnv() {
  const path = (process.env.PATH ?? '').split(delimiter).filter((part) => !part.includes(`node_modules${sep}.bin`))
  return { ...process.env, PATH: path.join(delimiter) }
}

/** What is being done. On standard error before a command such as `keys --json`, whose output a program may read. */
function progress(line) {
  if (isForCommand) console.error(line)
  else console.log(line)
}

/**
 * Runs a command to its end. `quiet`: nothing is printed, what it wrote as errors is returned; `toStderr`: its output goes to standard
 * error.
 */
function run(command, args, { cwd = root, env = process.env, quiet = false, toStderr = false } = {}) {
  const stdio = quiet ? ['ignore', 'ignore', 'pipe'] : toStderr ? ['ignore', 2, 2] : 'inherit'
  const child = command.endsWith('.cmd')
    ? spawn([command, ...args].join(' '), { cwd, env, stdio, shell: true }) // the only way to start one; none of it holds blanks
    : spawn(command, args, { cwd, env, stdio })
  const pass = () => child.kill('SIGTERM')
  const ignore = () => {} // a terminal sends it to the child as well
  process.on('SIGTERM', pass).on('SIGINT', ignore)
  let stderr = ''
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`cannot run ${command}: ${error.message}`)))
    child.on('close', (code, signal) => {
      process.off('SIGTERM', pass).off('SIGINT', ignore)
      resolve({ code: signal ? 1 : code, stderr })
    })
  })
}

/** npm's reason in one line: the first that is more than a code. */
function reason(stderr) {
  const lines = stderr.split('\n').map((line) => line.replace(/^npm (?:error|ERR!)\s*/, '').trim())
  return lines.find((line) => line && !/^(?:code|npm warn|errno|syscall)\b/.test(line)) ?? 'no reason given'
}

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
}

function fail(message) {
  console.error(`setup: ${message}`)
  process.exit(1)
}
