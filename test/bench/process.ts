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

/** Where a process of the bench listens, and the key that its clients need. */
interface Announcement {
  url: string
  key?: string
}

/** A process of the bench, and what it has used. */
export interface Participant extends Announcement {
  used(): Promise<Used>
  stop(): void
}

/** In the child: tells the runner where it listens, and what it has used whenever asked. */
export function announce(announcement: Announcement): void {
  process.send?.(announcement)
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    const used: Used = { cpu: user + system, rss: process.memoryUsage.rss() }
    process.send?.(used)
  })
}

/** The address of a server that listens on a port of this machine. */
export function urlOf(server: Server): string {
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
}

interface StartOptions {
  cpu: number
  env?: NodeJS.ProcessEnv
  /** The program of the runtime; default: that of this process. */
  runtime?: string
}

/** Starts a file of this folder, on a CPU of its own where the platform lets us choose. */
export async function start(
  file: string,
  { cpu, env = {}, runtime = process.execPath }: StartOptions,
): Promise<Participant> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: { ...process.env, ...env },
    execPath: runtime,
    execArgv: [],
  })
  pin(child.pid, cpu)
  process.once('exit', () => child.kill('SIGKILL'))
  const announcement = (await answerOf(child)) as Announcement // its first message
  return { ...announcement, used: () => ask(child), stop: () => void child.kill('SIGKILL') }
}

/** Of this machine; asked before this process is kept to one of them, after which the answer is 1. */
const cpus = availableParallelism()

/** Keeps a process to one CPU, if there are two and `taskset` is here. */
export function pin(pid: number | undefined, cpu: number): void {
  if (cpus > 1) spawnSync('taskset', ['-acp', String(cpu), String(pid)])
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
