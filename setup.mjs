/*
 * Prepares a fresh clone to start, build, check, or test. It needs only Node.js and npm:
 *   node setup.mjs start [arguments of the command line]
 *   node setup.mjs test [--all] [--isolate] [part of a path ...]
 *   node setup.mjs unit [--isolate] [part of a path ...]
 *   node setup.mjs generate
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
const BIOME = 'node_modules/@biomejs/biome/bin/biome'
/** The programs that a build runs, in order. */
const STEPS = ['src/cli/catalog/check.ts', 'node_modules/tsup/dist/cli-default.js', 'src/cli/config-schema/write.ts']
/** The signals that `start` forwards to the process it starts. */
const FORWARDED_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']
/** Ends a program as SIGTERM would when its parent process dies, because no signal reports that. */
const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(`
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel?.unref()
`)}`

/** The CLI options of `start`. npm passes them on only after `--`. */
const startOptions = [
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
/** npm turns `--no-env` into an empty `env`. */
const toNpmVariable = (option) => `npm_config_${option.replace(/^no-/, '').replace('-', '_')}`
const isConsumed = (option) => {
  const value = process.env[toNpmVariable(option)]
  return option.startsWith('no-') ? value === '' : value !== undefined
}
const tasks = { start, test, unit, generate, build: () => build('full'), check, bench, docs, release, pack }

const [major, minor, patch] = process.versions.node.split('.').map(parseFloat)
if (major * 1e6 + minor * 1e3 + patch < 20018001)
  fail(`Node.js ${process.versions.node} is too old. Install 20.18.1 or later: https://nodejs.org`)

const [name, ...args] = process.argv.slice(2)
if (!Object.hasOwn(tasks, name ?? '')) fail(`choose a task: ${Object.keys(tasks).join(', ')}`)
const isCommand = name === 'start' && args[0] !== undefined && !args[0].startsWith('-')
process.chdir(root)
await tasks[name](args).catch((error) => fail(error.message))

async function start(args) {
  rejectConsumed('start', startOptions)
  await install(root)
  await build('quick')
  const cli = at('dist', 'cli.js')
  if (!existsSync(cli)) throw new Error('the build has no dist/cli.js')
  if (realpathSync(process.execPath) !== realpathSync(node)) return runInstalledNode([cli, ...args])
  // Runs in this process, so the CLI handles signals and sets the exit code itself.
  process.argv = [process.argv[0], cli, ...args]
  await import(pathToFileURL(cli).href)
}

/**
 * Runs a program on the Node.js from `node_modules`, because the machine's may be too old. The program gets the terminal and all signals, and its exit
 * code becomes this process's.
 */
async function runInstalledNode(args) {
  const options = isWindows ? [] : ['--import', END_WITH_PARENT]
  const stdio = isWindows ? 'inherit' : ['inherit', 'inherit', 'inherit', 'ipc']
  const child = spawn(node, [...options, ...args], { stdio })
  const forward = (signal) => child.kill(signal) // a terminal signals the child too, which treats both as one signal
  for (const signal of FORWARDED_SIGNALS) process.on(signal, forward)
  const { code, signal } = await new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`cannot run ${node}: ${error.message}`)))
    child.on('exit', (code, signal) => resolve({ code, signal }))
  })
  for (const signal of FORWARDED_SIGNALS) process.off(signal, forward)
  if (signal && !isWindows) process.kill(process.pid, signal)
  else process.exit(code ?? 1)
}

async function test(args) {
  rejectConsumed('test', ['all'])
  await prepare(args)
  process.exitCode = (await run(node, ['test/run.ts', ...args])).code
}

/** Installs and builds everything that tests need, in parallel, because installs spend most of their time waiting. */
async function prepare(args) {
  await install(root)
  const isAll = args.includes('--all')
  const isNodeOnly = !isAll && readFilters(args).length === 0
  await settleAll([
    build('full'),
    ...(isNodeOnly ? [] : [install(runtimes)]),
    ...(isAll ? heavyFolders(args) : []).map((folder) => install(folder, { isHeavy: true })),
  ])
}

/** Runs tests without a build. */
async function unit(args) {
  await install(root)
  process.exitCode = (await run(node, ['test/run.ts', ...args])).code
}

/** Updates the files and tables that are generated from the code. */
async function generate() {
  await install(root)
  const { code } = await run(node, ['test/generated/generate.ts'])
  process.exitCode = code || (await run(node, [BIOME, 'format', '--write', 'docs/src/content/docs/reference'])).code
}

/** Builds the documentation site as static files in docs/dist, or serves it. `versions` builds the newest release and the next version, as published. */
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
  // Astro caches rendered pages even after a plugin changes.
  const force = command === 'build' ? ['--force'] : []
  const astro = join(site, 'node_modules', 'astro', 'bin', 'astro.mjs')
  process.exitCode = (await run(node, [astro, command, ...force, ...options], { cwd: site, env })).code
}

/** Checks the package as users install it. */
async function release(args) {
  await install(root)
  await settleAll([build('full'), ...(args.includes('--files') ? [] : [install(runtimes)])])
  process.exitCode = (await run(node, ['test/release/check.ts', ...args])).code
}

/** Generates the files that only the package has. */
async function pack() {
  await build('full')
  if ((await run(node, ['llms.mjs'])).code !== 0) throw new Error('could not create llms.txt')
}

/** Like `Promise.all`, but waits for all promises to settle before it throws the first failure. */
async function settleAll(promises) {
  const failed = (await Promise.allSettled(promises)).find(({ status }) => status === 'rejected')
  if (failed) throw failed.reason
}

/** npm consumes options that don't follow `--`. */
function rejectConsumed(script, options) {
  const consumed = options.find(isConsumed)
  if (!consumed) return
  const value = process.env[toNpmVariable(consumed)]
  const option = value === 'true' || value === '' ? `--${consumed}` : `--${consumed}=${value}`
  const npm = isWindows ? 'npm.cmd' : 'npm' // PowerShell's npm drops the --
  throw new Error(`npm consumed --${consumed}. Put a -- before it: ${npm} ${script} -- ${option}`)
}

function readFilters(args) {
  return args.filter((arg) => !arg.startsWith('-'))
}

/** Lists the heavy folders that a run needs: all without a filter, otherwise those with a file that a filter matches. */
function heavyFolders(args) {
  const filters = readFilters(args)
  const hasMatch = (name, filter) =>
    filter.includes(`${name}/`) || readdirSync(at('test', name)).some((file) => `test/${name}/${file}`.includes(filter))
  return readJson(at('test', 'heavy.json'))
    .filter((name) => filters.length === 0 || filters.some((filter) => hasMatch(name, filter)))
    .map((name) => (name === 'site' ? site : at('test', name))) // the site's tests use the site's packages
}

async function bench(args) {
  rejectConsumed('run bench', ['check', 'suggest'])
  await build(args.includes('--check') ? 'full' : 'quick') // the tests that follow in .ci/run need a full build
  process.exitCode = (await run(node, ['test/bench/run.ts', ...args])).code
}

/** Runs the linter and the type checks. With `--all`, also prepares a run of all tests. */
async function check(args) {
  if (args.includes('--all')) await prepare(args)
  else {
    await install(root)
    await install(runtimes) // tests use these packages' types
  }
  const projects = [
    'tsconfig.json',
    'tsconfig.node.json',
    'tsconfig.test.json',
    'src/features/dashboard/page/tsconfig.json',
  ]
  const runs = [[BIOME, 'check', '--error-on-warnings', '--max-diagnostics=200']]
  for (const project of projects) runs.push(['node_modules/tsc7/bin/tsc', '--noEmit', '-p', project])
  let failures = 0
  for (const args of runs) failures += (await run(node, args)).code === 0 ? 0 : 1
  if (failures > 0) throw new Error(`the check failed (${failures} of ${runs.length} steps)`)
}

/**
 * Installs the versions in the lock file unless they are already installed. A heavy folder's lock file may lack packages for other platforms, which
 * `npm ci` would reject.
 */
async function install(folder, { isHeavy = false } = {}) {
  const isMissing = !existsSync(join(folder, 'node_modules'))
  if (!isMissing && isInstalled(folder)) return
  const label = folder === root ? 'dependencies' : `dependencies of ${relative(root, folder)}`
  progress(`Installing ${label}...`)
  const command = isMissing && !isHeavy ? ['ci'] : ['install', '--no-save']
  const flags = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = isWindows ? 'npm.cmd' : 'npm'
  const { code, stderr } = await run(npm, [...command, ...flags], {
    cwd: folder,
    env: envWithoutLocalBin(),
    quiet: true,
  })
  if (code !== 0) throw new Error(`npm could not install ${label}: ${findReason(stderr)}`)
  if (folder === root && !existsSync(node))
    throw new Error('npm skipped install scripts. Allow them for "node" and "esbuild".')
}

/** Returns whether npm's record of installed packages matches the lock file. */
function isInstalled(folder) {
  const locked = readJson(join(folder, 'package-lock.json'))?.packages
  const installed = readJson(join(folder, 'node_modules', '.package-lock.json'))?.packages
  if (!locked || !installed || (folder === root && !existsSync(node))) return false
  return Object.entries(locked).every(
    ([path, { version, optional }]) =>
      path === '' || (optional && !installed[path]) || installed[path]?.version === version,
  )
}

/** Builds into a temporary folder and swaps it in, so a failed or concurrent build breaks nothing. */
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
      const { code } = await run(node, [step], { env, toStderr: isCommand })
      if (code !== 0) throw new Error('the build failed')
    }
    await withLock(async () => {
      if (isBuilt()) return // another process has built it, and may already be running it
      await swapIn(out)
      await writeFile(`${stampPath}.new`, JSON.stringify({ kind, sources }))
      await rename(`${stampPath}.new`, stampPath) // another process may be reading the stamp
    })
  } finally {
    await rm(at(out), { recursive: true, force: true })
  }
}

/** Removes the old build only after the new one is in place, because a running gateway may still load chunks from it. */
async function swapIn(out) {
  const old = at(`${out}-old`)
  if (existsSync(at('dist'))) await rename(at('dist'), old)
  await rename(at(out), at('dist'))
  await rm(old, { recursive: true, force: true, maxRetries: 5 }) // a virus scanner may hold a file open on Windows
}

/** Runs `work` in one process at a time. A lock left behind by a killed process expires after ten seconds. */
async function withLock(work) {
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

/** Returns the environment without `node_modules/.bin` in PATH, because npm must not run on the Node.js that it's about to replace. */
function envWithoutLocalBin() {
  const path = (process.env.PATH ?? '').split(delimiter).filter((part) => !part.includes(`node_modules${sep}.bin`))
  return { ...process.env, PATH: path.join(delimiter) }
}

/** Prints a progress line, to standard error if a CLI command follows whose output a program may read, such as `keys --json`. */
function progress(line) {
  if (isCommand) console.error(line)
  else console.log(line)
}

/** Runs a command until it exits. `quiet` prints nothing and returns its standard error. `toStderr` sends its output to standard error. */
function run(command, args, { cwd = root, env = process.env, quiet = false, toStderr = false } = {}) {
  const stdio = quiet ? ['ignore', 'ignore', 'pipe'] : toStderr ? ['ignore', 2, 2] : 'inherit'
  const child = command.endsWith('.cmd')
    ? spawn([command, ...args].join(' '), { cwd, env, stdio, shell: true }) // Windows starts .cmd files only through a shell; no argument contains spaces
    : spawn(command, args, { cwd, env, stdio })
  const forward = () => child.kill('SIGTERM')
  const ignore = () => {} // a terminal interrupts the child too
  process.on('SIGTERM', forward).on('SIGINT', ignore)
  let stderr = ''
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`cannot run ${command}: ${error.message}`)))
    child.on('close', (code, signal) => {
      process.off('SIGTERM', forward).off('SIGINT', ignore)
      resolve({ code: signal ? 1 : code, stderr })
    })
  })
}

/** Finds the first line of npm's errors that contains more than an error code. */
function findReason(stderr) {
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
