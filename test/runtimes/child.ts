import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { linkPackage } from './package-link.ts'

/** In ms. Less than a test's timeout, so the failure contains the app's output. */
const START_MS = 60_000

export interface Server {
  readonly url: string
  /** Writes a line to the app, waits for it to exit, and returns its exit code. */
  send(): Promise<number | null>
  stop(): Promise<void>
}

export interface ChildOptions {
  /** The working folder, below `test/`. Default: this file's folder. */
  folder?: URL
  env?: Record<string, string>
}

/** Starts an app that prints its URL at the end of a line. Rejects with its output if it ends or takes too long. */
export async function startChild(
  command: string,
  args: string[],
  { folder = new URL('.', import.meta.url), env: extra }: ChildOptions = {},
): Promise<Server> {
  await linkPackage(folder)
  const cwd = folder.pathname
  const env = { ...process.env, BUN_PORT: '0', ...extra } // any free port for apps that don't set one
  const child = spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve) => void child.on('close', resolve))
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  void ended.then(() => process.off('exit', kill))
  return new Promise((resolve, reject) => {
    let output = ''
    const timer = setTimeout(() => fail('took too long'), START_MS)
    const fail = (why: string) => {
      clearTimeout(timer)
      kill()
      reject(new Error(`${command} ${args.join(' ')}: ${why}\n${output}`))
    }
    child.on('error', (error) => fail(error.message))
    void ended.then((code) => fail(`ended with ${code}`))
    const read = (chunk: Buffer) => {
      output += chunk
      const url = /(?<![^\s(])http:\/\/[^\s()]+(?=\)?$)/m.exec(output)?.[0].replace(/\/$/, '')
      if (!url) return
      clearTimeout(timer)
      resolve({ url, send: () => send(child, ended), stop: () => stop(kill, ended) })
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
  })
}

/** By version: the Node that runs these tests, and the machine's own Node, which may be as old as the package allows. */
export const nodes = new Map(
  [process.execPath, ...pathNodes()].flatMap((path) => {
    const version = getVersion(path)
    return version ? [[version, path]] : []
  }),
)

function pathNodes(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  return folders.map((folder) => join(folder, 'node'))
}

function getVersion(node: string): string | undefined {
  try {
    return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  } catch {
    return undefined // there is none
  }
}

/** Runs a script to completion. Resolves to its output, or rejects if it fails or takes too long. */
export async function runScript(command: string, args: string[], timeoutMs = 60_000): Promise<string> {
  await linkPackage()
  const cwd = new URL('.', import.meta.url).pathname
  const { stdout } = await promisify(execFile)(command, args, { cwd, timeout: timeoutMs })
  return stdout
}

/** Shares an app between this many suites, which run sequentially. The first one starts it, and the last one stops it. */
export function sharedBy(suites: number, start: () => Promise<Server>): () => Promise<Server> {
  let starting: Promise<Server> | undefined
  let left = suites
  return async () => {
    starting ??= start()
    const server = await starting
    return {
      ...server,
      async stop() {
        left -= 1
        if (left === 0) await server.stop()
      },
    }
  }
}

function send(child: ChildProcess, ended: Promise<number | null>): Promise<number | null> {
  child.stdin?.write('\n')
  return ended
}

async function stop(kill: () => void, ended: Promise<unknown>): Promise<void> {
  kill()
  await ended
}
