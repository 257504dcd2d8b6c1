import { execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { manifest, root } from '../dist/built.ts'
import { skip } from '../support/suite.ts'

const execute = promisify(execFile)
const packages = fileURLToPath(new URL('node_modules', import.meta.url))
const runtimes = fileURLToPath(new URL('../runtimes/node_modules/.bin', import.meta.url))

/** The time limit for an example's command on a busy machine. A Next build takes longest. */
export const RUN_MS = 180_000

export interface Run {
  code: number | null
  /** The output on stdout and stderr. */
  output: string
}

/** A long-running command of an example, such as a server. */
export interface Started {
  /** The output on stdout and stderr so far. */
  readonly output: string
  readonly ended: Promise<Run>
  /** Sends SIGTERM to the command and its child processes, as systemd does, and waits for them to end. */
  stop(): Promise<Run>
  /** Immediately kills the command and its child processes. */
  kill(): Promise<Run>
}

export interface Example {
  /** A copy of the example from the packed tarball, with everything that installing `signalbox` adds. */
  folder: string
  /** The commands in the `sh` blocks of its documentation page, or of its README if it has no page, without install commands. */
  blocks: string[][]
  run(script: string, env?: Record<string, string>): Promise<Run>
  start(script: string, env?: Record<string, string>): Started
  remove(): Promise<void>
}

export interface ExampleOptions {
  /**
   * Whether its packages are copied (as hard links) instead of linked. Bundlers such as Next's reject links that point outside the folder. Default:
   * `false`.
   */
  copiesPackages?: boolean
}

/** Copies the example `name` from the packed tarball to a temporary folder. Skips the test file if the example's packages aren't installed. */
export async function openExample(name: string, { copiesPackages = false }: ExampleOptions = {}): Promise<Example> {
  if (!existsSync(packages)) skip('examples: their packages are not installed in test/examples')
  unpacking ??= unpack()
  const unpacked = await unpacking
  const location = await mkdtemp(join(tmpdir(), `signalbox-${name}-`))
  const folder = join(location, name)
  const modules = join(folder, 'node_modules')
  await cp(join(unpacked, 'examples', name), folder, { recursive: true })
  if (copiesPackages)
    await execute('cp', ['-al', packages, modules]).catch(() => execute('cp', ['-a', packages, modules]))
  else await linkPackages(folder)
  await rm(join(modules, 'signalbox'), { recursive: true, force: true })
  await cp(unpacked, join(modules, 'signalbox'), { recursive: true })
  const program = join('signalbox', String(manifest.bin.signalbox))
  await chmod(join(modules, program), 0o755) // as npm does
  await symlink(join('..', program), join(modules, '.bin', 'signalbox'))
  for (const dependency of Object.keys(manifest.dependencies))
    if (!existsSync(join(modules, dependency)))
      await cp(join(root, 'node_modules', dependency), join(modules, dependency), { recursive: true })

  const text = await readFile(existsSync(findPage(name)) ? findPage(name) : join(folder, 'README.md'), 'utf8')
  const isRun = (command: string) => !/^(?:$|npm install |bun add |deno add )/.test(command)
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .map(([, code = '']) => code.split(/(?<!\\)\n/).filter(isRun))
    .filter((commands) => commands.length > 0)
  const running = new Set<Started>()
  const start = (script: string, env: Record<string, string> = {}): Started => {
    const started = startScript(script, folder, env)
    running.add(started)
    return started
  }
  return {
    folder,
    blocks,
    start,
    async run(script, env) {
      const started = start(script, env)
      const late = sleep(RUN_MS, 'late', { ref: false })
      if ((await Promise.race([started.ended, late])) === 'late')
        throw new Error(`took longer than ${RUN_MS} ms: ${script}\n${(await started.kill()).output}`)
      return started.ended
    },
    async remove() {
      for (const item of running) await item.kill()
      await rm(location, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    },
  }
}

/** Returns the documentation page that contains an example's commands. */
export const findPage = (name: string): string =>
  join(root, `docs/src/content/docs/start/embed-in-${name === 'cloudflare' ? 'workers' : name}.md`)

let unpacking: Promise<string> | undefined

/** Packs the built package once for all examples in this process. Resolves to the folder of the tarball's contents. */
async function unpack(): Promise<string> {
  const location = await mkdtemp(join(tmpdir(), 'signalbox-packed-'))
  process.once('exit', () => rmSync(location, { recursive: true, force: true }))
  await execute('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', location], { cwd: root })
  const tarball = (await readdir(location)).find((file) => file.endsWith('.tgz')) ?? ''
  await execute('tar', ['-xzf', join(location, tarball), '-C', location])
  return join(location, 'package')
}

/** Links the packages that the example depends on, and the bin files of all packages. */
async function linkPackages(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules')
  const own: { dependencies?: object; devDependencies?: object } = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8'),
  )
  const programs = (await readdir(join(packages, '.bin'))).map((name) => join('.bin', name))
  for (const name of [...Object.keys({ ...own.dependencies, ...own.devDependencies }), ...programs]) {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(join(packages, name), join(modules, name))
  }
}

/** Starts a script in its own process group. Its environment contains the runtimes of these tests, and nothing else from this machine. */
export function startScript(script: string, cwd: string, extra: Record<string, string>): Started {
  const path = [dirname(process.execPath), runtimes, process.env.PATH].join(delimiter)
  const home = { HOME: cwd, XDG_CONFIG_HOME: join(cwd, '.config'), npm_config_update_notifier: 'false' }
  const quiet = { NO_COLOR: '1', NEXT_TELEMETRY_DISABLED: '1', WRANGLER_SEND_METRICS: 'false' }
  const env = { ...home, ...quiet, PATH: path, ...extra }
  const child = spawn('/bin/sh', ['-e', '-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let output = ''
  const read = (part: Buffer) => {
    output += part
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const send = (signal: NodeJS.Signals) => {
    try {
      if (child.pid) process.kill(-child.pid, signal)
    } catch {} // all processes had ended
  }
  const kill = () => send('SIGKILL')
  process.once('exit', kill)
  child.on('exit', kill) // also ends processes that it left running
  const ended = once(child, 'close').then(([code]): Run => {
    process.off('exit', kill)
    return { code, output }
  })
  return {
    get output() {
      return output
    },
    ended,
    stop() {
      send('SIGTERM')
      return ended
    },
    kill() {
      kill()
      return ended
    },
  }
}

/** Waits until `holds` resolves to a truthy value. Fails with the command's output if the command ends or takes too long. */
export async function until<Value>(
  started: Pick<Started, 'output' | 'ended'>,
  holds: () => Promise<Value> | Value,
  timeoutMs = 60_000,
): Promise<NonNullable<Value>> {
  const end = Date.now() + timeoutMs
  let hasEnded = false
  void started.ended.then(() => {
    hasEnded = true
  })
  for (;;) {
    const value = await holds()
    if (value) return value
    if (hasEnded) throw new Error(`the command has ended:\n${started.output}`)
    if (Date.now() > end) throw new Error(`nothing within ${timeoutMs} ms:\n${started.output}`)
    await sleep(50)
  }
}

/** Finds a free port below the range that the system assigns from, so no other test's server takes it before the command listens. */
export async function findFreePort(): Promise<number> {
  const server = createServer()
  for (;;)
    try {
      const port = randomInt(10_000, 32_768)
      await once(server.listen(port, '127.0.0.1'), 'listening')
      server.close()
      return port
    } catch {} // the port is in use
}
