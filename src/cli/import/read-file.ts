import { createReadStream } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { isObject } from '../../lib/json.ts'
import { problem } from '../problem.ts'
import { textOf } from './given-fields.ts'

/** The largest size of one file, in bytes: more than any configuration has, and few enough to be read in seconds. */
const MAX_BYTES = 32 * 1024 * 1024
/** The largest size of a file in YAML, in characters: the parser takes a second for each two million, and much memory. */
const MAX_YAML = 8 * 1024 * 1024
/** No configuration nests deeper. */
const MAX_DEPTH = 100

/** The code of an error of the system, such as `ENOENT`; empty for any other error. */
export const codeOf = (cause: unknown): string => (cause instanceof Error && 'code' in cause ? String(cause.code) : '')

/** The content of a file of YAML or JSON. A problem names the place of a mistake, and quotes nothing: it may be a secret. */
export async function readText(path: string): Promise<unknown> {
  const text = await textOfFile(path)
  const value = /^\s*[[{]/.test(text) ? (parsedJson(text) ?? parsedYaml(path, text)) : parsedYaml(path, text)
  if (value === null || value === undefined) throw problem(`${path} is empty.`)
  if (isTooDeep(value)) throw problem(`${path} is nested more than ${MAX_DEPTH} levels deep, or refers to itself.`)
  return value
}

async function textOfFile(path: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of createReadStream(path)) {
      size += chunk.length
      if (size > MAX_BYTES) break
      chunks.push(chunk)
    }
  } catch (cause) {
    const code = codeOf(cause)
    const why = { ENOENT: 'no such file', EISDIR: 'it is a directory', EACCES: 'permission denied' }[code] ?? code
    throw problem(`Cannot read ${path}: ${why}.`, { cause })
  }
  if (size > MAX_BYTES) throw problem(`${path} is larger than ${MAX_BYTES / 1024 / 1024} MiB.`)
  const bytes = Buffer.concat(chunks)
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe // as PowerShell writes it
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes)
}

/** The value of a text in JSON, which the parser of YAML would read as well, but more slowly; `undefined` for any other text. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function parsedYaml(path: string, text: string): unknown {
  if (text.length > MAX_YAML)
    throw problem(`${path} is larger than ${MAX_YAML / 1024 / 1024} MiB, the maximum for YAML.`)
  const document = parsing(() => parseDocument(text, { uniqueKeys: false, merge: true, logLevel: 'silent' }))
  if (!document) throw problem(`${path} is nested too deeply.`)
  const [mistake] = document.errors
  if (mistake) {
    const [at] = mistake.linePos ?? []
    throw problem(`${path} is not valid YAML or JSON${at ? `; see line ${at.line}, column ${at.col}` : ''}.`)
  }
  const value = parsing((): unknown => document.toJS({ maxAliasCount: 1_000 }) ?? null)
  if (value === undefined) throw problem(`${path} has too many YAML aliases.`)
  return value
}

/** The result, or `undefined` where the parser gives up. */
function parsing<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}

/** Does the value nest too deep, or within itself? A part to which several places refer is looked at once. */
function isTooDeep(value: unknown): boolean {
  const heights = new Map<unknown, number>()
  const heightOf = (one: unknown, depth: number): number => {
    if (typeof one !== 'object' || one === null) return 0
    const known = heights.get(one)
    if (known !== undefined || depth > MAX_DEPTH) return known ?? MAX_DEPTH
    heights.set(one, MAX_DEPTH) // so that a part that leads back to this one is too deep
    const height = Object.values(one).reduce((most, inner) => Math.max(most, heightOf(inner, depth + 1)), 0) + 1
    heights.set(one, height)
    return height
  }
  return heightOf(value, 1) > MAX_DEPTH
}

/**
 * A configuration of LiteLLM with the files that it includes, put together as LiteLLM does: lists become one, all else of an included file replaces
 * what was there. Included files are beside the one that names them; those that they include themselves are not read.
 */
export async function readWithIncludes(path: string): Promise<unknown> {
  const config = await readText(path)
  if (!isObject(config) || config.include === undefined || config.include === null) return config
  const given = Array.isArray(config.include) ? config.include : [config.include]
  const whole = new Map<string, unknown>(Object.entries(config))
  for (const [at, one] of given.entries()) {
    const name = textOf(one)
    if (name === undefined) throw problem(`${path}: include[${at}] must be a file path.`)
    const included = await readText(resolve(dirname(path), name))
    if (!isObject(included)) throw problem(`${name}, included by ${path}, must contain an object.`)
    for (const [section, value] of Object.entries(included)) {
      const before = whole.get(section)
      whole.set(section, Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value)
    }
  }
  return Object.fromEntries(whole)
}
