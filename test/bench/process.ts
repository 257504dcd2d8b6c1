import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:net'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

/** What a process has used. */
export interface Used {
  /** Microseconds of CPU time so far. */
  cpu: number
  /** Resident memory now, in bytes. */
  rss: number
}

/** A process of the bench: where it listens, and what it has used. */
export interface Participant {
  url: string
  used(): Promise<Used>
  stop(): void
}

/** In the child: tells the runner where it listens, and what it has used whenever asked. */
export function announce(server: Server): void {
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  process.send?.(`http://127.0.0.1:${port}`)
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    const used: Used = { cpu: user + system, rss: process.memoryUsage.rss() }
    process.send?.(used)
  })
}

/** Starts a file of this folder, on a CPU of its own where the platform lets us choose. */
export async function start(
  file: string,
  { cpu, env = {} }: { cpu: number; env?: NodeJS.ProcessEnv },
): Promise<Participant> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { env: { ...process.env, ...env } })
  pin(child.pid, cpu)
  process.once('exit', () => child.kill('SIGKILL'))
  return { url: String(await answerOf(child)), used: () => ask(child), stop: () => void child.kill('SIGKILL') }
}

/** Keeps a process to one CPU, if there are two and `taskset` is here. */
export function pin(pid: number | undefined, cpu: number): void {
  if (availableParallelism() > 1) spawnSync('taskset', ['-acp', String(cpu), String(pid)])
}

async function ask(child: ChildProcess): Promise<Used> {
  child.send('used')
  return (await answerOf(child)) as Used // it answers nothing else
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const done = new AbortController()
  const { signal } = done
  const failed = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`A process of the bench ended with code ${code}.`)
  })
  failed.catch(() => {}) // also when it is no longer waited for
  try {
    const [message]: unknown[] = await Promise.race([once(child, 'message', { signal }), failed])
    return message
  } finally {
    done.abort()
  }
}
