import { setTimeout as sleep } from 'node:timers/promises'
import { type Load, runLoad } from './load.ts'
import {
  measuredCpu,
  type Participant,
  readCpuTime,
  readPeakMemory,
  resetPeakMemory,
  startProcess,
} from './processes.ts'
import type { Sample } from './ratios.ts'
import type { Suite } from './suites.ts'

const MEBIBYTE = 2 ** 20
const IDLE_MS = 60
const DRAIN_MS = 5_000

interface Measurement {
  server: Participant
  /** Whether the clients call the provider directly, so there is no server to measure. */
  isDirect: boolean
  load: Load
  unit: Suite['unit']
}

/** Runs the load once. CPU time is measured until the server is idle, to include deferred work such as writing usage records. */
export async function measureLoad({ server, isDirect, load, unit }: Measurement): Promise<Sample['figures']> {
  if (isDirect) return convertTimes(await runLoad(load), unit)
  const before = readCpuTime(server.pid)
  server.resume()
  resetPeakMemory(server.pid)
  const result = await runLoad(load)
  await waitUntilIdle(server.pid)
  server.pause()
  const cpuUs = readCpuTime(server.pid) - before
  return {
    ...convertTimes(result, unit),
    ...(unit === 'chunk' ? { cpuPerChunk: cpuUs / result.chunks } : { cpuPerRequest: cpuUs / result.requests }),
    memory: readPeakMemory(server.pid) / MEBIBYTE,
  }
}

function convertTimes(
  { requests, chunks, seconds, latency, lag }: Awaited<ReturnType<typeof runLoad>>,
  unit: Suite['unit'],
): Sample['figures'] {
  return {
    rate: (unit === 'chunk' ? chunks : requests) / seconds,
    p50: latency.p50 / 1_000,
    p99: latency.p99 / 1_000,
    ...(unit === 'chunk' && { lagP50: lag.p50 / 1_000, lagP99: lag.p99 / 1_000 }),
  }
}

async function waitUntilIdle(pid: number): Promise<void> {
  const end = performance.now() + DRAIN_MS
  let used = readCpuTime(pid)
  while (performance.now() < end) {
    await sleep(IDLE_MS)
    const now = readCpuTime(pid)
    if (now === used) return
    used = now
  }
}

interface Start {
  file: string
  env: Record<string, string>
  key: string
}

/** Starts a server and sends one request. Returns the time from process start to the response, and the peak memory until then. */
export async function measureStart(
  { file, env, key }: Start,
  load: Omit<Load, 'url' | 'key'>,
): Promise<Sample['figures']> {
  const startedAt = performance.now()
  const server = await startProcess(file, { cpu: measuredCpu, env })
  await runLoad({ ...load, url: server.url, key, connections: 1, requestsEach: 1 })
  const start = performance.now() - startedAt
  await waitUntilIdle(server.pid)
  const memory = readPeakMemory(server.pid) / MEBIBYTE
  await server.stop()
  return { start, memory }
}
