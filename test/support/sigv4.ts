import { createHash, createHmac } from 'node:crypto'

/** A request to sign. */
export interface Signable {
  method: string
  host: string
  /** The path as it appears in the request line: `/model/a%3Ab/converse`. */
  pathname: string
  /** The query string with its leading `?`, or an empty string. */
  search: string
  /** The headers to sign, in addition to the host. */
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
}

/** The credentials and their scope. `now` is in ms since the epoch. */
export interface Scope {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
  region: string
  service: string
  now: number
}

/**
 * Returns the AWS Signature Version 4 headers, implemented from the specification, to compare with the headers that the gateway sends. Encodes the
 * path twice, as every service except S3 requires.
 */
export function signV4(request: Signable, scope: Scope): Record<string, string> {
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
    digest(request.body),
  ].join('\n')

  const place = [date, region, service, 'aws4_request']
  const text = ['AWS4-HMAC-SHA256', time, place.join('/'), digest(canonical)].join('\n')
  let key = Buffer.from(`AWS4${secretAccessKey}`)
  for (const part of [...place, text]) key = createHmac('sha256', key).update(part).digest()
  const credential = `${accessKeyId}/${place.join('/')}`
  return {
    ...added,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${key.toString('hex')}`,
  }
}

function canonicalQuery(search: string): string {
  const pairs = [...new URLSearchParams(search)].map(([name, value]) => `${encode(name)}=${encode(value)}`)
  return pairs.sort().join('&')
}

/** Percent-encodes as in RFC 3986: everything except letters, digits, `-`, `.`, `_`, and `~`. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

const digest = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')
