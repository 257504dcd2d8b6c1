import { decodeUtf8 } from '../../lib/bytes.ts'
import { fromBase64 } from '../../lib/encoding.ts'

/** The text in a field of bytes, base64 in either alphabet; `undefined` when the bytes are not UTF-8, or it is not base64. */
export function textOfBase64(base64: string): string | undefined {
  try {
    return decodeUtf8(fromBase64(base64.replaceAll('-', '+').replaceAll('_', '/')))
  } catch {
    return undefined
  }
}
