#!/usr/bin/env node
import { text } from 'node:stream/consumers'
import { isatty } from 'node:tty'
import { VERSION } from '../lib/version.ts'
import { type CliOptions, formatMainHelp, parseOptions, readEnvironment, requireNode } from './cli-options.ts'
import { createLogger, describeError, type Terminal } from './logger.ts'
import { isProblem } from './problem.ts'

const terminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
}

process.on('uncaughtException', crash).on('unhandledRejection', crash)
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {}) // the reader of a pipe may close it early
silenceSqlite()
await main(process.argv.slice(2))

/** Hides Node 22's warning that SQLite is experimental, but no other warnings. */
function silenceSqlite(): void {
  const { emitWarning } = process
  process.emitWarning = (...args: unknown[]) => {
    if (!String(args[0]).startsWith('SQLite is an experimental feature')) Reflect.apply(emitWarning, process, args)
  }
}

async function main(args: string[]): Promise<void> {
  try {
    requireNode(process.versions.node)
    const [first, ...rest] = args
    if (first?.startsWith('-') === false && first !== 'start') return await runAction(args)
    const options = parseOptions(first === 'start' ? rest : args)
    if (options.help) return terminal.out(formatMainHelp(await listCommandLines()))
    if (options.version) return terminal.out(`${VERSION}\n`)
    await run(options)
  } catch (error) {
    if (isProblem(error)) end(error.exitCode, error.message)
    else crash(error)
  }
}

/** Starts the gateway. Its code is loaded only here, because help, version, and errors don't need it, and old versions of Node can't load it. */
async function run(options: CliOptions): Promise<void> {
  const environment = readEnvironment(process.env, options)
  const output = options.log === 'json' ? terminal.err : terminal.out // keeps stdout for the log
  const logger = createLogger({ ...terminal, out: output })
  const { start, toStartProblem } = await import('./start.ts')
  const running = await start(options, { environment, variables: process.env, logger, terminal }).catch(
    (error: unknown) => {
      throw toStartProblem(error, options, environment.secret !== undefined)
    },
  )
  onStopSignal(() => {
    output(`Stopping. In-flight requests have ${GRACE_MS / 1000} seconds to finish; press Ctrl-C again to quit now.\n`)
    running.stop({ graceMs: GRACE_MS }).then(() => process.exit(0), crash)
  })
  if (running.reload) onReloadSignal(running.reload)
  output(running.welcome)
}

/** Lists the commands for the help. Their code is loaded only here, because starting a gateway doesn't need it. */
async function listCommandLines(): Promise<string> {
  const { listCommands } = await import('./commands/commands.ts')
  const commands = Object.entries(listCommands()).map(([name, { help }]) => [name, help])
  const lines = [['start', 'Start a gateway (default)'], ...commands]
  return lines.map(([name = '', help]) => `  ${name.padEnd(13)} ${help}`).join('\n')
}

/** Runs a command on a running gateway, such as `keys list`. */
async function runAction(args: string[]): Promise<void> {
  const { runCommand } = await import('./commands/run-command.ts')
  const stdin = async () => {
    if (process.stdin.isTTY) terminal.err('Reading from stdin. Paste the value, then press Enter and Ctrl-D:\n')
    return text(process.stdin)
  }
  const openFetch = async () => {
    if (process.env.NODE_USE_ENV_PROXY !== '1') return fetch
    const { openProxiedFetch } = await import('./environment-proxies.ts')
    return openProxiedFetch(process.env)
  }
  await runCommand(args, { variables: process.env, stdin, terminal, openFetch })
}

/** Ends the program after an uncaught error, because its state is unknown. */
function crash(error: unknown): void {
  end(1, `Unexpected error: ${describeError(error)}`)
}

function end(exitCode: number, message: string): void {
  process.stderr.write(`signalbox: ${message}\n`, () => process.exit(exitCode))
}

/** How long in-flight responses have to finish, in ms. */
const GRACE_MS = 10_000

/** How long a repeated signal is ignored, in ms. npm (on Ctrl-C) and service managers that signal the entire process group send each signal twice. */
const REPEATED_SIGNAL_MS = 1_000

/** Calls `reload` on each SIGHUP, unless the signal means that a terminal was closed. Then stops the program, as it would without a config file. */
function onReloadSignal(reload: () => Promise<void>): void {
  if (process.platform === 'win32') return // on Windows, SIGHUP only means that the terminal was closed
  const terminals = [0, 1, 2].filter((file) => isatty(file))
  process.on('SIGHUP', () => {
    if (terminals.some((file) => !isatty(file))) process.kill(process.pid, 'SIGTERM')
    else void reload()
  })
}

/** Calls `stop` on the first SIGTERM or SIGINT. Another signal at least a second later ends the program immediately, with exit code 1. */
function onStopSignal(stop: () => void): void {
  let firstSignalAt: number | undefined
  const listener = () => {
    if (firstSignalAt === undefined) {
      firstSignalAt = performance.now()
      stop()
    } else if (performance.now() - firstSignalAt >= REPEATED_SIGNAL_MS) process.exit(1)
  }
  process.on('SIGTERM', listener).on('SIGINT', listener)
}
