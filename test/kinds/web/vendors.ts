import type { Call } from '../../pipeline/support/upstream.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { exa, firecrawl, jinaReader, jinaSearch, tavily } from './fake-search-fetch-vendors.ts'
import { brave, perplexity, searxng, serper } from './fake-search-vendors.ts'
import type { FakeVendor } from './fake-vendor.ts'

export type { FakeVendor } from './fake-vendor.ts'

export const searchVendors: readonly FakeVendor[] = [
  perplexity,
  tavily,
  exa,
  brave,
  serper,
  firecrawl,
  jinaSearch,
  searxng,
]
export const fetchVendors: readonly FakeVendor[] = [jinaReader, firecrawl, tavily, exa]
const all = [...new Set([...searchVendors, ...fetchVendors])]

/** Headers that vendors ignore. */
const PLAIN = new Set(['content-type', 'accept', 'accept-encoding', 'user-agent', 'x-title'])

/** Returns the response of the vendor at the call's URL, or the vendor's error if the call contains anything it doesn't know. */
export function respondAsVendor({ url, init, headers, body }: Call): Response {
  const vendor = all.find(({ host }) => host === url.host)
  if (!vendor) return json({ message: `There is no vendor at ${url.host}.` }, 599)
  const known = vendor.paths[url.pathname]
  if (!known || known.method !== (init.method ?? 'GET')) return vendor.refuse(404, `no ${init.method} ${url.pathname}`)
  const credential = headers.get(vendor.keyHeader)
  const isKey = credential === `secret-of-${vendor.provider}` || credential === `Bearer secret-of-${vendor.provider}`
  if (!isKey) return vendor.refuse(401, `the credential is ${credential}`)
  for (const [name, value] of headers) {
    const check = vendor.headers?.[name]
    if (check ? !check(value) : !PLAIN.has(name) && name !== vendor.keyHeader)
      return vendor.refuse(400, `unknown header ${name}: ${value}`)
  }
  const input: Record<string, unknown> =
    known.method === 'GET' ? Object.fromEntries(url.searchParams) : JSON.parse(body)
  if (known.method === 'POST' && url.search !== '') return vendor.refuse(400, `unknown query ${url.search}`)
  if (known.method === 'GET' && body !== '') return vendor.refuse(400, 'a body')
  for (const [name, value] of Object.entries(input)) {
    if (!known.fields[name]?.(value)) return vendor.refuse(422, `unknown ${name}: ${JSON.stringify(value)}`)
  }
  const missing = known.required.find((name) => input[name] === undefined)
  return missing ? vendor.refuse(422, `no ${missing}`) : json(known.response)
}
