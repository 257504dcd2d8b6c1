import type { Storage } from '../../../src/types.ts'

/** A store whose process can be killed at a write. */
export interface DyingStorage extends Storage {
  /** Kills the process before or after the nth write from now. Everything after that fails. */
  dieAt(write: number, when: 'before' | 'after'): void
  /** Opens the same data in another process. Returns whether the previous process was killed. */
  revive(): boolean
}

export function dyingStorage(storage: Storage): DyingStorage {
  let left = Number.POSITIVE_INFINITY
  let when = 'before'
  let isDead = false

  const died = () => Object.assign(new Error('The process is gone.'), { code: 'STORAGE_CLOSED' })
  const assertAlive = () => {
    if (isDead) throw died()
  }

  async function write<T>(make: () => Promise<T>): Promise<T> {
    assertAlive()
    left--
    isDead = left <= 0
    if (isDead && when === 'before') throw died()
    const created = await make()
    assertAlive()
    return created
  }

  const { increment } = storage
  return {
    ...storage,
    async get(key) {
      assertAlive()
      return storage.get(key)
    },
    async list(prefix, options) {
      assertAlive()
      return storage.list(prefix, options)
    },
    set: (...args) => write(() => storage.set(...args)),
    delete: (...args) => write(() => storage.delete(...args)),
    ...(increment && { increment: (...args: Parameters<typeof increment>) => write(() => increment(...args)) }),
    dieAt(writes, moment) {
      left = writes
      when = moment
    },
    revive() {
      const wasDead = isDead
      isDead = false
      left = Number.POSITIVE_INFINITY
      return wasDead
    },
  }
}
