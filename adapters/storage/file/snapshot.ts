import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createTable, type Table } from '../lib/row-table.ts'
import { folderError, hasCode } from './folder.ts'
import { type Decoded, decodeStore, MAX_HEADER_BYTES } from './format.ts'
import type { Page } from './pages.ts'

/** A store file as it was read or written, with what shows whether the file has changed since. */
export interface Snapshot {
  readonly revision: number
  readonly table: Table
  /** The rows of the table as encoded in the file. */
  readonly pages: readonly Page[]
  readonly secretMark: string | undefined
  /** The file's first line; empty when there is no file yet. */
  readonly header: string
  readonly stamp: FileStamp | undefined
}

/** The identity, size and time of a file according to the file system. */
export interface FileStamp {
  readonly id: string
  /** False when another version of the file could have the same stamp, because the file was written just before it was checked. */
  isSettled: boolean
}

/** A store without a file. */
export const emptySnapshot = (): Snapshot => ({
  revision: 0,
  table: createTable(),
  pages: [],
  secretMark: undefined,
  header: '',
  stamp: undefined,
})

/** The result of reading a store file. */
export type Reading = Exclude<Decoded, { kind: 'good' }> | { kind: 'good'; snapshot: Snapshot } | { kind: 'missing' }

/** Reads a store file. Throws `STORAGE_UNREADABLE` when the system does not let it. */
export async function readSnapshot(path: string): Promise<Reading> {
  const { stamp, bytes } = await readStamped(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return { stamp: undefined, bytes: undefined }
    throw folderError('STORAGE_UNREADABLE', path, error)
  })
  if (!bytes) return { kind: 'missing' }
  const decoded = decodeStore(bytes)
  if (decoded.kind !== 'good') return decoded
  const { revision, secretMark, rows, pages, header } = decoded
  return { kind: 'good', snapshot: { revision, table: createTable(rows), pages, secretMark, header, stamp } }
}

async function readStamped(path: string) {
  const file = await open(path, 'r')
  try {
    return { stamp: stampOf(await file.stat({ bigint: true })), bytes: await file.readFile() }
  } finally {
    await file.close()
  }
}

/** Is the file still that of the snapshot? Compares the stamp, and also the header line when the stamp is not settled. */
export function isCurrent(path: string, { stamp, header }: Snapshot): boolean {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (!stats || !stamp) return !stats && !stamp
    const now = stampOf(stats)
    if (now.id !== stamp.id) return false
    if (stamp.isSettled) return true
    if (readHeader(path) !== header) return false
    stamp.isSettled = now.isSettled
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw folderError('STORAGE_UNREADABLE', path, error)
  }
}

const SETTLED_MS = 3_000 // more than the coarsest resolution of a file system's times

/** Two versions of a file differ in inode, size or time, unless they were written within one step of the clock. */
export function stampOf(stats: { ino: bigint; size: bigint; mtimeNs: bigint }): FileStamp {
  const mtimeMs = Number(stats.mtimeNs / 1_000_000n)
  const isSettled = Math.abs(Date.now() - mtimeMs) > SETTLED_MS
  return { id: `${stats.ino} ${stats.size} ${stats.mtimeNs}`, isSettled }
}

function readHeader(path: string): string {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(MAX_HEADER_BYTES)
    const text = bytes.toString('latin1', 0, readSync(file, bytes, 0, MAX_HEADER_BYTES, 0))
    return text.slice(0, text.indexOf('\n') + 1)
  } finally {
    closeSync(file)
  }
}
