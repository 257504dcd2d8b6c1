import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')
setFlagsFromString('--no-expose-gc') // restores the default for files that run later

/** Collects all garbage. Waits between rounds, because objects returned by `deref()` stay alive until the end of the current turn. */
export async function collectGarbage(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
}

/** Returns the number of bytes still referenced: on V8's heap, and outside of it in array buffers and large strings. */
export async function bytesHeld(): Promise<number> {
  let held = await measure()
  for (let round = 0; round < 10; round++) {
    const before = held
    held = await measure()
    if (Math.abs(held - before) < STILL) break // otherwise, an earlier file's leftovers are still being released
  }
  return held
}

const STILL = 64 * 1024

async function measure(): Promise<number> {
  await collectGarbage()
  await new Promise((resolve) => setTimeout(resolve, 20))
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
