import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { linkPackage } from './package-link.ts'

const START_MS = 15_000

export interface Served {
  readonly url: string
  /** Writes a line to the app and waits for its end; answers its exit code. */
  ask(): Promise<number | null>
  stop(): Promise<void>
}

/** Starts an app that prints its URL as its first line. Rejects with what it wrote when it ends or takes too long. */
export async function startChild(command: string, args: string[]): Promise<Served> {
  await linkPackage()
  const cwd = new URL('.', import.meta.url).pathname
  const env = { ...process.env, BUN_PORT: '0' } // any free port where an app names none
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
      const url = /^http:\/\/\S+$/m.exec(output)?.[0]
      if (!url) return
      clearTimeout(timer)
      resolve({ url, ask: () => ask(child, ended), stop: () => stop(kill, ended) })
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
  })
}

/** Runs a script to its end; answers what it has written. Rejects when it fails, or takes longer than 20 s. */
export async function runScript(command: string, args: string[]): Promise<string> {
  await linkPackage()
  const cwd = new URL('.', import.meta.url).pathname
  const { stdout } = await promisify(execFile)(command, args, { cwd, timeout: 20_000 })
  return stdout
}

/** The same app for so many suites, one after the other: the first one starts it, the last one stops it. */
export function sharedBy(suites: number, start: () => Promise<Served>): () => Promise<Served> {
  let starting: Promise<Served> | undefined
  let left = suites
  return async () => {
    starting ??= start()
    const served = await starting
    return {
      ...served,
      async stop() {
        left -= 1
        if (left === 0) await served.stop()
      },
    }
  }
}

function ask(child: ChildProcess, ended: Promise<number | null>): Promise<number | null> {
  child.stdin?.write('\n')
  return ended
}

async function stop(kill: () => void, ended: Promise<unknown>): Promise<void> {
  kill()
  await ended
}
