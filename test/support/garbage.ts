import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')
setFlagsFromString('--no-expose-gc') // for the files that come later

/** Collects all garbage; what `deref()` has returned is kept till the end of the turn, so it waits for that. */
export async function collectGarbage(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
}

/** Bytes that are still referred to: on V8's heap, in array buffers and in large strings, which Node keeps outside. */
export async function bytesHeld(): Promise<number> {
  let held = await measured()
  for (let round = 0; round < 10; round++) {
    const before = held
    held = await measured()
    if (Math.abs(held - before) < STILL) break // else leftovers of an earlier file are still being given up
  }
  return held
}

const STILL = 64 * 1024

async function measured(): Promise<number> {
  await collectGarbage()
  await new Promise((resolve) => setTimeout(resolve, 20))
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
