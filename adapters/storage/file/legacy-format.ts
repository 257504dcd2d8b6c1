import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Row } from '../lib/row-operations.ts'
import { createFolderError, hasCode } from './folder.ts'

/*
 * Releases without a database kept all data in one file: a header line `signalbox-store <schema> <revision> <sha256>`, then JSON with one line per
 * row. They reject a file with a later schema, so the folder now contains such a file.
 */

/** The contents of a file in that format. */
export type LegacyFile =
  | { kind: 'missing' }
  | { kind: 'corrupt'; reason: string }
  | { kind: 'newer'; schema: number }
  /** A file whose data has been moved to the database. */
  | { kind: 'moved' }
  | { kind: 'data'; revision: number; secretMark: string | undefined; rows: Map<string, Row> }

/** The last schema that stored rows in the file. */
const LAST_SCHEMA = 1
const MOVED_SCHEMA = 2
const MOVED = '{"database":"store.db"}\n'
const MAX_HEADER_BYTES = 128
const HEADER_PATTERN = /^signalbox-store (\d{1,9}) (\d{1,15}) ([0-9a-f]{64})\n/

/** Creates a file that tells releases without a database that they are too old. */
export function createMovedFile(revision: number): Buffer {
  const sum = checksum(MOVED_SCHEMA, revision, Buffer.from(MOVED))
  return Buffer.from(`signalbox-store ${MOVED_SCHEMA} ${revision} ${sum}\n${MOVED}`)
}

/** Reads a file. The result is `corrupt` if even a single bit differs from what was written. Throws `STORAGE_UNREADABLE`. */
export async function readLegacyFile(path: string): Promise<LegacyFile> {
  const bytes = await readFile(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw createFolderError('STORAGE_UNREADABLE', path, error)
  })
  return bytes ? decodeLegacyFile(bytes) : { kind: 'missing' }
}

function decodeLegacyFile(bytes: Buffer): LegacyFile {
  const start = bytes.toString('latin1', 0, MAX_HEADER_BYTES)
  const [header, schema, revision, sum] = HEADER_PATTERN.exec(start) ?? []
  if (header === undefined || schema === undefined || revision === undefined)
    return { kind: 'corrupt', reason: bytes.length === 0 ? 'it is empty' : 'it has no valid header' }
  const body = bytes.subarray(header.length)
  if (checksum(schema, revision, body) !== sum) return { kind: 'corrupt', reason: 'its checksum does not match' }
  if (Number(schema) === MOVED_SCHEMA && body.toString() === MOVED) return { kind: 'moved' }
  if (Number(schema) > LAST_SCHEMA) return { kind: 'newer', schema: Number(schema) }
  try {
    // The checksum proves that a release wrote these bytes, so they have this shape.
    const { secretMark, rows } = JSON.parse(body.toString()) as {
      secretMark: string | null
      rows: [string, string, string, number?][]
    }
    return {
      kind: 'data',
      revision: Number(revision),
      secretMark: secretMark ?? undefined,
      rows: new Map(rows.map(([key, value, version, expiresAt]) => [key, toRow(value, version, expiresAt)])),
    }
  } catch {
    return { kind: 'corrupt', reason: 'it is not in the format of earlier releases' }
  }
}

const toRow = (value: string, version: string, expiresAt?: number): Row =>
  expiresAt === undefined ? { value, version } : { value, version, expiresAt }

const checksum = (schema: number | string, revision: number | string, body: Uint8Array) =>
  createHash('sha256').update(`${schema} ${revision}\n`).update(body).digest('hex')
