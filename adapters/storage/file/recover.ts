import { readdir } from 'node:fs/promises'
import type { Logger } from '../../../src/index.ts'
import { type StorageErrorCode, storageError } from '../lib/error.ts'
import { commit, linkOrCopy, syncFolder } from './commit.ts'
import { ASIDE, type Folder } from './folder.ts'
import { SCHEMA } from './format.ts'
import type { Lock } from './lock.ts'
import { emptySnapshot, type Reading, readSnapshot, type Snapshot } from './snapshot.ts'

/** There is no store file: was the store never written, rather than lost? */
async function isNewFolder(folder: Folder): Promise<boolean> {
  const names = await readdir(folder.path)
  const traces = [folder.previous, folder.secret].map((path) => path.slice(folder.path.length + 1))
  return !names.some((name) => traces.includes(name) || name.startsWith(ASIDE))
}

/**
 * Reads the store file. Under the lock, a file that cannot be read is restored from what this process has in memory (`known`) or from the
 * previous version, whichever is newer; the bad file is kept under another name, and the logger gets an error. Without a previous version
 * `known` is used only when `isLast` is true. Throws `STORAGE_CORRUPT`, `STORAGE_MISSING` or `STORAGE_NEWER_VERSION` and changes no file when
 * there is nothing to restore from.
 */
export async function readOrRestore(place: {
  folder: Folder
  logger: Logger
  known: Snapshot | undefined
  isLast: boolean
  lock: Lock | undefined
  now: number
}): Promise<{ kind: 'read' | 'restored'; snapshot: Snapshot } | { kind: 'locked out' }> {
  const { folder, logger, known, isLast, lock, now } = place
  const current = refuseNewer(folder.store, await readSnapshot(folder.store))
  if (current.kind === 'good') return { kind: 'read', snapshot: current.snapshot }
  if (current.kind === 'missing' && !known?.revision && (await isNewFolder(folder))) {
    return { kind: 'read', snapshot: emptySnapshot() }
  }
  if (!lock) return { kind: 'locked out' }

  const previous = refuseNewer(folder.previous, await readSnapshot(folder.previous))
  const best = previous.kind === 'good' ? newest(previous.snapshot, known) : isLast ? known : undefined
  if (!best) throw lossError(folder, current, previous)

  const aside = current.kind === 'corrupt' ? folder.aside() : undefined
  if (aside) await linkOrCopy(folder.store, aside)
  // Without a stamp `commit` does not keep the current, unreadable file as the previous version.
  const restored = await commit({ folder, lock, now }, { ...best, stamp: undefined }, {})
  await syncFolder(folder)
  const from =
    best === known
      ? 'what this process held in memory'
      : `its previous version, revision ${best.revision}; the last commit is lost`
  logger.error(`The store file ${folder.store} ${describe(current)}. It was restored from ${from}.`, {
    path: folder.path,
    ...(aside && { keptAside: aside }),
  })
  return { kind: 'restored', snapshot: restored }
}

const newest = (previous: Snapshot, known: Snapshot | undefined) =>
  known && known.revision > previous.revision ? known : previous

function refuseNewer(path: string, reading: Reading): Exclude<Reading, { kind: 'newer' }> {
  if (reading.kind !== 'newer') return reading
  const versions = `schema version ${reading.schema}; this one knows ${SCHEMA}`
  throw storageError(
    'STORAGE_NEWER_VERSION',
    `${path} was written by a newer Signalbox (${versions}). Update it. The file is unchanged.`,
  )
}

function describe(reading: Exclude<Reading, { kind: 'newer' | 'good' }>): string {
  return reading.kind === 'missing' ? 'is missing' : `cannot be read: ${reading.reason}`
}

function lossError(folder: Folder, current: Reading, previous: Reading): Error {
  const code: StorageErrorCode =
    current.kind === 'missing' && previous.kind === 'missing' ? 'STORAGE_MISSING' : 'STORAGE_CORRUPT'
  const states = [current, previous].map((reading) =>
    reading.kind === 'corrupt' || reading.kind === 'missing' ? describe(reading) : '',
  )
  return storageError(
    code,
    `The store file ${folder.store} ${states[0]}, and its previous version ${folder.previous} ${states[1]}. Nothing was changed: ` +
      'restore the folder from a backup. To start empty on purpose, move everything in it elsewhere, the secret too.',
  )
}
