import { encodeUtf8 } from '../../lib/bytes.ts'
import { toHex } from '../../lib/encoding.ts'
import type { AwsCredentials } from './aws-credentials.ts'

/** A request to sign. */
export interface Signable {
  method: string
  host: string
  /** As in the request line: `/model/a%3Ab/converse`. */
  pathname: string
  /** With its leading `?`; empty when there is none. */
  search: string
  /** All are signed, and the host. */
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
}

/** The credential scope; `now` in epoch ms. */
export interface Scope extends AwsCredentials {
  region: string
  service: string
  now: number
}

/** The headers of AWS Signature Version 4. The path is encoded once more, as all services but S3 require. */
export async function signV4(request: Signable, scope: Scope): Promise<Record<string, string>> {
  const { accessKeyId, secretAccessKey, sessionToken, region, service, now } = scope
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
  const date = time.slice(0, 8)
  const added: Record<string, string> = { 'x-amz-date': time }
  if (sessionToken !== undefined) added['x-amz-security-token'] = sessionToken

  const headers = Object.entries({ host: request.host, ...request.headers, ...added })
    .map(([name, value]) => [name.toLowerCase(), value.trim().replace(/ +/g, ' ')] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const names = headers.map(([name]) => name).join(';')
  const canonical = [
    request.method,
    request.pathname.split('/').map(encode).join('/') || '/',
    canonicalQuery(request.search),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    await digest(request.body),
  ].join('\n')

  const place = [date, region, service, 'aws4_request']
  const text = ['AWS4-HMAC-SHA256', time, place.join('/'), await digest(canonical)].join('\n')
  let key: Uint8Array<ArrayBuffer> = encodeUtf8(`AWS4${secretAccessKey}`)
  for (const part of [...place, text]) key = await hmac(key, part)
  const credential = `${accessKeyId}/${place.join('/')}`
  return {
    ...added,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${toHex(key)}`,
  }
}

function canonicalQuery(search: string): string {
  const pairs = [...new URLSearchParams(search)].map(([name, value]) => `${encode(name)}=${encode(value)}`)
  return pairs.sort().join('&')
}

/** RFC 3986: nothing but letters, digits, `-`, `.`, `_` and `~` stays. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

const digest = async (data: string | Uint8Array): Promise<string> =>
  toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytesOf(data))))

async function hmac(key: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array<ArrayBuffer>> {
  const usable = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', usable, encodeUtf8(text)))
}

/** Copied: TypeScript wants to know that the bytes are not shared memory. */
const bytesOf = (data: string | Uint8Array): Uint8Array<ArrayBuffer> =>
  typeof data === 'string' ? encodeUtf8(data) : new Uint8Array(data)
