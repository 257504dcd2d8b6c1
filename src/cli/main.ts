#!/usr/bin/env node
import { VERSION } from '../lib/version.ts'
import { readEnvironment } from './environment.ts'
import { help } from './help.ts'
import { createLogger, type Terminal } from './logger.ts'
import { requireNode } from './node-version.ts'
import { describeError } from './one-line.ts'
import { parseOptions } from './options.ts'
import { isProblem } from './problem.ts'
import { GRACE_MS, onStopSignal } from './shutdown.ts'
import { welcomeText } from './welcome.ts'

const terminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
}

process.on('uncaughtException', crash).on('unhandledRejection', crash)
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {}) // whoever reads it may leave before us
await main(process.argv.slice(2))

async function main(args: string[]): Promise<void> {
  try {
    requireNode(process.versions.node)
    const options = parseOptions(args)
    if (options.help) return terminal.out(help)
    if (options.version) return terminal.out(`${VERSION}\n`)
    await run(options)
  } catch (error) {
    if (isProblem(error)) end(error.exitCode, error.message)
    else crash(error)
  }
}

/** Loads the gateway only now: help, versions and mistakes need none of it, and a Node that is too old could not load it. */
async function run(options: ReturnType<typeof parseOptions>): Promise<void> {
  const environment = readEnvironment(process.env, options)
  const logger = createLogger(terminal)
  const [{ start }, { startFailure }] = await Promise.all([import('./start.ts'), import('./failure.ts')])
  const running = await start(options, { environment, variables: process.env, logger, terminal }).catch(
    (error: unknown) => {
      throw startFailure(error, options, environment.secret !== undefined)
    },
  )
  onStopSignal(() => {
    terminal.out(`Stopping: answers under way have ${GRACE_MS / 1000} s to finish.\n`)
    running.stop({ graceMs: GRACE_MS }).then(() => process.exit(0), crash)
  })
  terminal.out(welcomeText(running.welcome))
}

/** The last resort: what nobody has caught leaves the program in a state that nobody knows. */
function crash(error: unknown): void {
  end(1, `stopped by an unexpected error. ${describeError(error)}`)
}

function end(exitCode: number, message: string): void {
  process.stderr.write(`signalbox: ${message}\n`, () => process.exit(exitCode))
}
