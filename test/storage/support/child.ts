import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import process from 'node:process'
import { fileStorage } from '../../../adapters/storage/file.ts'
import { plannedWrite } from './plan.ts'
import { interceptSteps } from './steps.ts'

/*
 * The child processes in the file storage tests: `child <program> <folder> <arguments>`. Each one prints "ready", waits for a line, and then prints
 * its progress, immediately and unbuffered.
 */

const [program = '', path = '', ...args] = process.argv.slice(2)
const STALE_MS = 250
const programs: Record<string, (order: string) => Promise<void>> = { write, add, step, fill, announce, denied, idle }

const storage = fileStorage({ path, logger: false, lockStaleMs: STALE_MS })
if (args.includes('opened')) await storage.get('')
print('ready')
const [order] = await once(process.stdin.setEncoding('utf8'), 'data')
process.stdin.destroy()
await programs[program]?.(String(order).trim())

/** Makes the planned writes, starting with number `order`, four concurrently, until the process is killed. */
async function write(order: string) {
  for (let first = Number(order); ; first += 4) {
    const numbers = [first, first + 1, first + 2, first + 3]
    await Promise.all(
      numbers.map(async (number) => {
        const { key, value } = plannedWrite(number)
        await (value === undefined ? storage.delete(key) : storage.set(key, value))
        print(String(number))
      }),
    )
  }
}

/** Increments a key's value `args[1]` times, with read-modify-writes. */
async function add() {
  const [key = '', times] = args
  for (let done = 0; done < Number(times); ) {
    const stored = await storage.get(key)
    const next = String(Number(stored?.value ?? 0) + 1)
    if ((await storage.set(key, next, { ifVersion: stored?.version ?? null })) !== false) done++
  }
  print('done')
}

/**
 * Opens the store, which may include setup or an import, or creates the secret (`args[2]`). Before step `args[1]`, the process is killed or stopped,
 * or the step fails (`args[0]`). Prints the number of steps.
 */
async function step() {
  const [fate, at, what] = args
  let steps = 0
  const start = await interceptSteps((number, name) => {
    steps = number
    if (number !== Number(at)) return
    print(`at ${name}`)
    if (fate === 'kill') process.kill(process.pid, 'SIGKILL')
    if (fate === 'stop') process.kill(process.pid, 'SIGSTOP')
    if (fate === 'fail') throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: name })
  })
  if (what === 'secret') await storage.get('count')
  start()
  const work = what === 'secret' ? storage.ownSecret?.() : storage.get('count').then((stored) => stored?.value)
  const outcome = await Promise.resolve(work).then(String, getCode)
  print(`answered ${outcome}`)
  await storage.close?.()
  print(`steps ${steps}`)
}

/** Writes until the disk is full, then reads. A file size limit simulates a full disk. */
async function fill() {
  const limit = spawnSync('prlimit', ['--pid', String(process.pid), '--fsize=400000:unlimited'])
  if (limit.status !== 0) throw new Error(`prlimit: ${limit.stderr}`)
  for (let number = 0; number < 500; number++) {
    const isRelaxed = number % 2 === 0
    const done = await storage
      .set(`fill/${number}`, 'value '.repeat(1_000), isRelaxed ? { durability: 'relaxed' } : {})
      .then(
        () => `wrote fill/${number}`,
        (error) => `refused ${getCode(error)}`,
      )
    print(done)
    if (!done.startsWith('wrote')) break
  }
  print(`read ${(await storage.get('first'))?.value}`)
  process.exit()
}

/** Uses the store as a user without permissions. */
async function denied() {
  if (process.getuid?.() === 0) process.setuid?.(65_534)
  const use = {
    read: () => storage.get('key'),
    write: () => storage.set('key', 'value'),
    secret: async () => storage.ownSecret?.(),
  }
  for (const [name, action] of Object.entries(use)) {
    print(`${name} ${await action().then(() => 'allowed', getCode)}`)
  }
}

/** Only watches the store. The process must exit on its own. */
async function idle() {
  storage.watch?.(() => {})
  await storage.set('key', 'value')
  print('idle')
}

function print(line: string): void {
  for (;;) {
    try {
      return void writeSync(1, `${line}\n`)
    } catch (error) {
      if (getCode(error) !== 'EAGAIN') throw error // the reader is slow
    }
  }
}

function getCode(error: unknown): string {
  return String(Reflect.get(Object(error), 'code'))
}

/** Changes a key `order` times, every 30 ms. Prints the time of each change. */
async function announce(order: string) {
  for (let number = 0; number < Number(order); number++) {
    await storage.set(`news/${number}`, 'new')
    print(`news/${number} ${performance.timeOrigin + performance.now()}`)
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
}
