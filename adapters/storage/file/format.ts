import { createHash, type Hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Row } from '../lib/row-operations.ts'
import { decodePages, type Page } from './pages.ts'

/** What a store file holds. */
export interface Contents {
  /** Counts commits. */
  readonly revision: number
  /** Shows whether the secret beside the data belongs to this store; absent until a secret was made. */
  readonly secretMark?: string | undefined
  readonly pages: readonly Page[]
}

/** The result of decoding a store file. */
export type Decoded =
  | ({ kind: 'good'; header: string; rows: Map<string, Row> } & Contents)
  | { kind: 'corrupt'; reason: string }
  | { kind: 'newer'; schema: number }

/** The schema that this code writes. The header line and its checksum are the same in every schema. */
export const SCHEMA = 1
/** The longest header line, in bytes. */
export const MAX_HEADER_BYTES = 128

const HEADER = /^signalbox-store (\d{1,9}) (\d{1,15}) ([0-9a-f]{64})\n/

/**
 * The bytes of a store file, to be written one after the other: `signalbox-store <schema> <revision> <sha256>` and a line of JSON for each
 * row. Yields to other work between pages.
 */
export async function encodeStore(
  { revision, secretMark, pages }: Contents,
  schema = SCHEMA,
): Promise<{ parts: Buffer[]; header: string }> {
  const [first, ...others] = pages.map(({ bytes }) => bytes)
  const start = Buffer.from(`{"secretMark":${JSON.stringify(secretMark ?? null)}${ROWS}`)
  const body = [start, first?.subarray(1) ?? LINE_BREAK, ...others, END]
  const checksum = startChecksum(String(schema), String(revision))
  for (const part of body) {
    checksum.update(part)
    await setImmediate()
  }
  const header = `signalbox-store ${schema} ${revision} ${checksum.digest('hex')}\n`
  return { parts: [Buffer.from(header), ...body], header }
}

/** Reads a store file back. A file that differs in a single bit from what was written is `corrupt`. */
export function decodeStore(bytes: Buffer): Decoded {
  const start = bytes.toString('latin1', 0, MAX_HEADER_BYTES)
  const [header, schema, revision, sum] = HEADER.exec(start) ?? []
  if (header === undefined || schema === undefined || revision === undefined) {
    return { kind: 'corrupt', reason: bytes.length === 0 ? 'it is empty' : 'it has no valid header' }
  }
  const body = bytes.subarray(header.length)
  const checksum = startChecksum(schema, revision).update(body).digest('hex')
  if (checksum !== sum) return { kind: 'corrupt', reason: 'its checksum does not match' }
  if (Number(schema) > SCHEMA) return { kind: 'newer', schema: Number(schema) }
  try {
    return { kind: 'good', revision: Number(revision), header, ...parseBody(body) }
  } catch {
    return { kind: 'corrupt', reason: 'it is not what this version writes' }
  }
}

const ROWS = ',"rows":['
const LINE_BREAK = Buffer.from('\n')
const END = Buffer.from('\n]}\n')

const startChecksum = (schema: string, revision: string): Hash => createHash('sha256').update(`${schema} ${revision}\n`)

function parseBody(body: Buffer) {
  const start = body.indexOf(ROWS) + ROWS.length
  // The checksum shows that `encodeStore` has written these bytes, so that they have this shape.
  const { secretMark } = JSON.parse(`${body.toString('utf8', 0, start)}]}`) as { secretMark: string | null }
  return { secretMark: secretMark ?? undefined, ...decodePages(body.subarray(start, body.length - END.length)) }
}
