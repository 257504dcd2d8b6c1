import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** The JSON line that a process prints once it is listening. */
export interface Announcement {
  url: string
  key?: string
  /** A user's cookie, if the app identifies its users. */
  cookie?: string
  limitedKey?: string
  /** The number of usage records in the store. Only `seed.mjs` reports it. */
  records?: number
}

/** A running benchmark process. */
export interface Participant extends Announcement {
  pid: number
  /** Suspends the process until `resume`, so it uses no CPU. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

const TICKS_PER_SECOND = 100
const STOP_MS = 5_000

/** The CPUs available to this process before it is pinned to one of them. */
const cpus = readCpus()
const canPin = cpus.length > 1 && spawnSync('taskset', ['--version']).status === 0

/** The CPU for the measured process, and the one for everything else. They are the same on a machine with one CPU. */
export const measuredCpu = cpus[0] ?? 0
export const loadCpu = canPin ? (cpus[1] ?? measuredCpu) : measuredCpu

/** Whether the measured process has a CPU to itself. */
export const hasOwnCpu = canPin

function readCpus(): number[] {
  const list = /Cpus_allowed_list:\s*(\S+)/.exec(readProc('self', 'status'))?.[1] ?? '0'
  return list.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number)
    return Array.from({ length: to - from + 1 }, (_, index) => from + index)
  })
}

/** Pins this process, and the processes that it starts later, to `loadCpu`. */
export function pinSelf(): void {
  if (canPin) spawnSync('taskset', ['-acp', String(loadCpu), String(process.pid)])
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL') // also ends paused processes
})

interface StartOptions {
  cpu: number
  env?: Record<string, string>
  /** The runtime that runs the file. Default: the current one. */
  runtime?: string
}

/** Starts a file in this folder, and waits for the line that it prints when it's ready. */
export async function startProcess(
  file: string,
  { cpu, env = {}, runtime = process.execPath }: StartOptions,
): Promise<Participant> {
  const command = [runtime, fileURLToPath(new URL(file, import.meta.url))]
  if (canPin) command.unshift('taskset', '-c', String(cpu))
  const child = spawn(command[0] ?? runtime, command.slice(1), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  const announcement = await readAnnouncement(child, file)
  const pid = child.pid ?? 0
  return {
    ...announcement,
    pid,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    stop: () => stopProcess(child),
  }
}

const PACE = `process.on('message', () => {
  const before = process.cpuUsage()
  let work = 0
  for (let at = 0; at < 20_000_000; at++) work = (work * 31 + at) | 0
  const { user, system } = process.cpuUsage(before)
  process.send((user + system + (work & 0)) / 1_000)
})`

/** Starts a process that times a fixed amount of work on `measuredCpu`, in ms of CPU time. */
export function startPace(): { measure(): Promise<number>; stop(): void } {
  const command = [process.execPath, '-e', PACE]
  if (canPin) command.unshift('taskset', '-c', String(measuredCpu))
  const child = spawn(command[0] ?? '', command.slice(1), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  running.add(child)
  return {
    async measure() {
      const response = once(child, 'message')
      child.send('measure')
      return Number((await response)[0])
    },
    stop: () => void child.kill('SIGKILL'),
  }
}

async function readAnnouncement(child: ChildProcess, file: string): Promise<Announcement> {
  let output = ''
  const line = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (bytes) => {
      output += bytes
      const announcement = /^\{"url".*\}$/m.exec(output)?.[0] // the gateway may log messages first
      if (announcement) resolve(announcement)
    })
    child.once('error', reject)
    child.once('exit', (code, signal) => reject(new Error(`${file} ended early (${signal ?? code}).`)))
  })
  return JSON.parse(await line) as Announcement // only files in this folder print this line
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGCONT')
  child.kill('SIGTERM')
  const late = new AbortController()
  await Promise.race([exit, sleep(STOP_MS, undefined, { signal: late.signal }).catch(() => {})])
  late.abort()
  child.kill('SIGKILL')
  await exit
}

/** Returns the CPU time that all threads of a process have used so far, user and system, in µs. */
export function readCpuTime(pid: number): number {
  const stat = readProc(pid, 'stat')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // the name in front of it may contain spaces
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_PER_SECOND
}

/** Resets the peak for `readPeakMemory` to the memory currently in use. */
export function resetPeakMemory(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Returns the peak resident memory since `resetPeakMemory`, in bytes. */
export function readPeakMemory(pid: number): number {
  return Number(/VmHWM:\s*(\d+)/.exec(readProc(pid, 'status'))?.[1]) * 1_024
}

function readProc(pid: number | 'self', name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch (cause) {
    throw new Error('The benchmark reads CPU time and memory from /proc, so it only runs on Linux.', { cause })
  }
}
