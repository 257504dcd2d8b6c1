import { spawn } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { listStores, type Runtime } from '../../matrix.ts'
import { SkipSignal } from '../../runner/registry.ts'
import { temporaryFolder } from '../../storage/support/folder.ts'
import { assert, suite } from '../../support/suite.ts'
import { startPostgres } from '../postgres-server.ts'
import { openClient } from '../redis-clients.ts'
import { findRedis } from '../redis-server.ts'
import { startUpstash } from '../upstash-server.ts'
import type { Declared, Reported } from './report.ts'

/** A separate process: its output, and a function that ends it. */
export interface Run {
  written: AsyncIterable<string>
  end(): Promise<void>
}

/** In ms, because a test waits for earlier tests in the other process. */
const TIMEOUT_MS = 300_000
/** The number of tests in the suite for a store without optional features. */
const LEAST_TESTS = 25

/**
 * Runs the conformance suite in a runtime, for all stores that the matrix lists for it, and declares a test here for each test there. `start` starts
 * the process that reports the results for the given stores. `missing` contains the reason for each store that isn't available.
 */
export async function addStoreTests(
  runtime: Runtime,
  start: (names: string[]) => Run | Promise<Run>,
  missing: Map<string, string> = new Map(),
): Promise<void> {
  const test = suite(`stores in ${runtime}`)
  const names = listStores(runtime)
  const present = names.filter((name) => !missing.has(name))
  for (const name of names) if (missing.has(name)) test.skip(name, missing.get(name) ?? '')
  const run = await start(present)
  test.after(run.end)
  const { declared, outcomeOf } = await follow(run.written)

  for (const item of declared)
    test(getTitle(item), { timeoutMs: TIMEOUT_MS }, async () => {
      const { failure } = await outcomeOf(item)
      if (failure !== undefined) throw new Error(failure)
    })
  for (const name of present)
    test(`${name} has run the complete suite`, () => {
      const own = declared.filter((item) => item.suite === `${name} storage`)
      assert.ok(own.length >= LEAST_TESTS, `${own.length} tests`)
    })
}

/** Does the same with a command that runs a script, and starts the servers that some stores need. */
export async function addStoreTestsWithCommand(runtime: Runtime, command: string, ...args: string[]): Promise<void> {
  const folder = await temporaryFolder()
  const program = join(folder.path, 'program.mjs')
  await bundle('program.ts', { outfile: program, platform: 'node', external: ['bun:sqlite'] })
  const redis = await startIfFound(findRedis)
  const upstash = await startIfFound(() => startUpstashOver(redis))
  const postgres = await startIfFound(startPostgres)
  const missing = new Map<string, string>()
  if (redis.missing) missing.set('redis', redis.missing)
  if (upstash.missing) missing.set('upstash', upstash.missing)
  if (postgres.missing) missing.set('postgres', postgres.missing)
  const servers = { redis: redis.url, postgres: postgres.url, upstash: upstash.url }

  async function end(): Promise<void> {
    await upstash.remove()
    await redis.remove()
    await postgres.remove()
    await folder.remove()
  }

  function start(names: string[]): Run {
    const run = startProgram(command, [...args, program, JSON.stringify([servers, names])])
    return { ...run, end: () => run.end().then(end) }
  }

  await addStoreTests(runtime, start, missing).catch(async (error: unknown) => {
    await end()
    throw error
  })
}

/** Bundles a program in this folder into one file, in which uvu doesn't start tests itself. */
export async function bundle(entry: string, options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    banner: { js: 'globalThis.UVU_DEFER = 1' },
    logLevel: 'error',
    ...options,
  })
  return outputFiles?.[0]?.text ?? ''
}

const getTitle = ({ suite, name }: Declared) => `${suite} › ${name}`

/** Reads the output, and resolves when the tests are declared. If the process ends early, all tests without an outcome fail. */
async function follow(written: AsyncIterable<string>) {
  const outcomes = new Map<string, PromiseWithResolvers<{ failure?: string }>>()
  const declared = Promise.withResolvers<Declared[]>()
  const others: string[] = []

  function read(line: string): void {
    if (line.startsWith('[{')) {
      const tests = JSON.parse(line) as Declared[] // the line that report.ts writes
      for (const test of tests) outcomes.set(getTitle(test), Promise.withResolvers())
      declared.resolve(tests)
    } else if (line.startsWith('{"suite"')) {
      const reported = JSON.parse(line) as Reported
      outcomes.get(getTitle(reported))?.resolve(reported)
    } else others.push(line)
  }

  async function readAll(): Promise<void> {
    let rest = ''
    for await (const text of written) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) read(line)
    }
    others.push(rest)
  }

  void readAll()
    .catch((error: unknown) => void others.push(String(error)))
    .then(() => {
      const failure = `the run ended: ${others.join('\n')}`
      declared.reject(new Error(failure))
      for (const outcome of outcomes.values()) outcome.resolve({ failure })
    })

  return {
    declared: await declared.promise,
    async outcomeOf(item: Declared): Promise<{ failure?: string }> {
      return (await outcomes.get(getTitle(item))?.promise) ?? { failure: 'it was not declared' }
    },
  }
}

function startProgram(command: string, args: string[]): Run {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let errors = ''
  child.on('error', (error) => {
    errors += error.message
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })

  async function* readWritten() {
    yield* child.stdout.setEncoding('utf8')
    await ended
    process.off('exit', kill)
    yield errors
  }

  return {
    written: readWritten(),
    async end() {
      kill()
      await ended
    },
  }
}

/** Starts Upstash's REST API in front of a Redis. Skips with the reason if there is no Redis. */
export async function startUpstashOver({ url, missing }: Server & { missing?: string }): Promise<Server> {
  if (missing) throw new SkipSignal(missing)
  const client = await openClient('ioredis', url)
  const server = await startUpstash(client)
  return {
    url: server.url,
    async remove() {
      await server.close()
      client.end()
    },
  }
}

interface Server {
  url: string
  remove(): Promise<void>
}

/** Returns a server, or the reason why there is none. */
export async function startIfFound(start: () => Promise<Server>): Promise<Server & { missing?: string }> {
  return start().catch((error: unknown) => {
    if (error instanceof SkipSignal) return { url: '', remove: async () => {}, missing: error.message }
    throw error
  })
}
