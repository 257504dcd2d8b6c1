import { json } from '../../pipeline/support/upstream.ts'

export type Check = (value: unknown) => boolean

/** A fake vendor that validates its requests, and rejects anything it doesn't know, like the real vendor. */
export interface FakeVendor {
  provider: string
  /** By path: the method, the fields, and the response. */
  paths: Record<
    string,
    { method: 'GET' | 'POST'; fields: Record<string, Check>; required: readonly string[]; response: object }
  >
  host: string
  keyHeader: string
  /** Headers other than the key and the content type, with their values. */
  headers?: Record<string, Check>
  refuse(status: number, message: string): Response
}

export const text: Check = (value) => typeof value === 'string' && value !== ''
export const isTextList: Check = (value) => Array.isArray(value) && value.length > 0 && value.every(text)
export const flag: Check = (value) => typeof value === 'boolean'
export const number: Check = (value) => typeof value === 'number'
export const upTo =
  (most: number): Check =>
  (value) =>
    Number.isInteger(Number(value)) && Number(value) >= 0 && Number(value) <= most
export const isOneOf =
  (...words: unknown[]): Check =>
  (value) =>
    words.includes(value)
export const like =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value)
export const day = like(/^\d{4}-\d{2}-\d{2}$/)
export const american = like(/^\d{2}\/\d{2}\/\d{4}$/)

export const getError = (body: (message: string, status: number) => object) => (status: number, message: string) =>
  json(body(message, status), status)

/** A search result that every fake vendor returns. */
export const found = { title: 'A page', url: 'https://found.example/a' }

/** Serper's time filter, which Firecrawl also supports. */
export const serperFields: Record<string, Check> = {
  q: text,
  num: upTo(100),
  gl: like(/^[a-z]{2}$/),
  hl: like(/^[a-z]{2}(?:-[a-z]{2})?$/),
  page: number,
  tbs: like(/^(?:qdr:[hdwmy]|cdr:1(?:,cd_m(?:in|ax):[\d/]+)+)$/),
  location: text,
  autocorrect: flag,
}
