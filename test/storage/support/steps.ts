import fs, { type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { fileURLToPath } from 'node:url'

const FUNCTIONS = ['link', 'mkdir', 'open', 'readdir', 'rename', 'rmdir', 'unlink']
const METHODS = ['stat', 'sync', 'writeFile']

/**
 * Intercepts file system calls: calls `onStep` before each one, which may kill or stop the process, or throw. Returns a function that starts the
 * count.
 */
export async function interceptSteps(onStep: (number: number, name: string) => void): Promise<() => void> {
  let number: number | undefined

  function intercept(owner: object, names: readonly string[]) {
    for (const name of names) {
      const original: unknown = Reflect.get(owner, name)
      if (typeof original !== 'function') throw new Error(`there is no ${name}`)
      Reflect.set(owner, name, async function (this: unknown, ...args: unknown[]) {
        if (number !== undefined) onStep(++number, name)
        return Reflect.apply(original, this, args)
      })
    }
  }

  const any: FileHandle = await fs.open(fileURLToPath(import.meta.url))
  await any.close()
  intercept(Object.getPrototypeOf(any), METHODS)
  intercept(fs, FUNCTIONS)
  syncBuiltinESMExports()
  return () => {
    number = 0
  }
}
