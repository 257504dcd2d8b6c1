import { createHash } from 'node:crypto'
import type { Row } from '../../../adapters/storage/lib/row-operations.ts'

/** Builds a store file with these rows, in the format of releases without a database. */
export function formerStore(
  revision: number,
  rows: ReadonlyMap<string, Row>,
  { schema = 1, secretMark }: { schema?: number; secretMark?: string } = {},
): Buffer {
  const lines = Array.from(rows, ([key, { value, version, expiresAt }]) =>
    JSON.stringify(expiresAt === undefined ? [key, value, version] : [key, value, version, expiresAt]),
  )
  const body = `{"secretMark":${JSON.stringify(secretMark ?? null)},"rows":[\n${lines.join(',\n')}\n]}\n`
  const sum = createHash('sha256').update(`${schema} ${revision}\n`).update(body).digest('hex')
  return Buffer.from(`signalbox-store ${schema} ${revision} ${sum}\n${body}`)
}
