import { encodeStore } from '../../../adapters/storage/file/format.ts'
import { encodePages } from '../../../adapters/storage/file/pages.ts'
import type { Row } from '../../../adapters/storage/lib/row-operations.ts'

/** The bytes of a store file with these rows. */
export async function storeFile(revision: number, rows: ReadonlyMap<string, Row>, schema?: number): Promise<Buffer> {
  const { parts } = await encodeStore({ revision, pages: encodePages(rows) }, schema)
  return Buffer.concat(parts)
}
