import { createHash } from 'node:crypto'
import type { Row } from '../lib/operations.ts'

/** What a store file holds. */
export interface Contents {
  /** Counts commits. */
  readonly revision: number
  /** Tells whether `secret` is the one that belongs to this store; absent until one was made. */
  readonly secretMark?: string | undefined
  readonly rows: Iterable<[string, Row]>
}

/** What the bytes of a store file are. */
export type Decoded =
  | { kind: 'good'; revision: number; secretMark: string | undefined; rows: Map<string, Row>; header: string }
  | { kind: 'corrupt'; reason: string }
  | { kind: 'newer'; schema: number }

/** The schema that this code writes. The header line and its checksum are the same in every schema. */
export const SCHEMA = 1
/** No header line is longer. */
export const MAX_HEADER_BYTES = 128

const HEADER = /^signalbox-store (\d{1,9}) (\d{1,15}) ([0-9a-f]{64})\n/

/** The bytes of a store file: `signalbox-store <schema> <revision> <sha256>` and a line of JSON for each row. */
export function encodeStore(
  { revision, secretMark, rows }: Contents,
  schema = SCHEMA,
): { bytes: Buffer; header: string } {
  const lines: string[] = []
  for (const [key, { value, version, expiresAt }] of rows) {
    lines.push(JSON.stringify(expiresAt === undefined ? [key, value, version] : [key, value, version, expiresAt]))
  }
  const body = Buffer.from(`{"secretMark":${JSON.stringify(secretMark ?? null)},"rows":[\n${lines.join(',\n')}\n]}\n`)
  const header = `signalbox-store ${schema} ${revision} ${checksum(String(schema), String(revision), body)}\n`
  return { bytes: Buffer.concat([Buffer.from(header), body]), header }
}

/** Reads a store file back. One bit more, less or other than what was written is `corrupt`. */
export function decodeStore(bytes: Buffer): Decoded {
  const start = bytes.toString('latin1', 0, MAX_HEADER_BYTES)
  const [header, schema, revision, sum] = HEADER.exec(start) ?? []
  if (header === undefined || schema === undefined || revision === undefined) {
    return { kind: 'corrupt', reason: bytes.length === 0 ? 'it is empty' : 'it has no valid header' }
  }
  const body = bytes.subarray(header.length)
  if (checksum(schema, revision, body) !== sum) return { kind: 'corrupt', reason: 'its checksum does not match' }
  if (Number(schema) > SCHEMA) return { kind: 'newer', schema: Number(schema) }
  try {
    return { kind: 'good', revision: Number(revision), header, ...parseBody(body.toString()) }
  } catch {
    return { kind: 'corrupt', reason: 'it is not what this version writes' }
  }
}

function checksum(schema: string, revision: string, body: Buffer): string {
  return createHash('sha256').update(`${schema} ${revision}\n`).update(body).digest('hex')
}

function parseBody(text: string): { secretMark: string | undefined; rows: Map<string, Row> } {
  // The checksum vouches for the shape: these bytes were written by `encodeStore`.
  const { secretMark, rows } = JSON.parse(text) as {
    secretMark: string | null
    rows: [string, string, string, number?][]
  }
  const toRow = (value: string, version: string, expiresAt?: number): Row =>
    expiresAt === undefined ? { value, version } : { value, version, expiresAt }
  return {
    secretMark: secretMark ?? undefined,
    rows: new Map(rows.map(([key, value, version, expiresAt]) => [key, toRow(value, version, expiresAt)])),
  }
}
