import type { WireFormat } from '../../types.ts'

/** Where the bytes of an image, a file, a sound or a film are. */
export type MediaSource =
  | { type: 'base64'; mediaType: string; data: string }
  | { type: 'url'; url: string; mediaType?: string }
  /** An id at one vendor: no other format can carry it. */
  | { type: 'file-id'; id: string; format: WireFormat; mediaType?: string }
  /** A document that is plain text. */
  | { type: 'text'; mediaType: string; text: string }
