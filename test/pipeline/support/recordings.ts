import { existsSync, readFileSync } from 'node:fs'
import { skip } from '../../support/suite.ts'

const folder = new URL('../../../../shared/recordings/', import.meta.url)

/** A stream recorded from a provider, and how the vendor's own client read it. */
export interface Recording {
  name: string
  api: 'chat' | 'anthropic'
  sse: string
  bytes: Uint8Array
  read: { ok: boolean; text?: string; error?: string; usage?: Record<string, unknown> | null }
}

/** Returns all recorded streams in the supported formats, shortest first. Skips the test if there are none. */
export function recordedStreams(): Recording[] {
  known ??= load()
  return known ?? skip('recordings: ../shared/recordings is missing')
}

let known: Recording[] | undefined

function load(): Recording[] | undefined {
  const oracle = new URL('oracle.jsonl', folder)
  if (!existsSync(oracle)) return undefined
  const encoder = new TextEncoder()
  const found: Recording[] = []
  for (const line of readFileSync(oracle, 'utf8').trim().split('\n')) {
    const { file, interaction, api, ...read } = JSON.parse(line)
    if (api !== 'chat' && api !== 'anthropic') continue
    const { sse } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')).interactions[interaction].response.body
    found.push({ name: `${file} ${interaction}`, api, sse, bytes: encoder.encode(sse), read })
  }
  return found.sort((a, b) => a.bytes.length - b.bytes.length)
}
