import * as v from 'valibot'
import { withoutTrailing } from '../lib/trim-end.ts'
import type { Store } from '../store/store.ts'
import type { Settings } from '../types.ts'
import { addressProblem } from './address.ts'
import { fields } from './fields.ts'
import { closed, invalidInput, parseInput } from './input.ts'
import { isSameJson } from './same-json.ts'

/** The settings (spec.md, Settings). `Input` is accepted besides the typed input: nothing in process, `unknown` for bodies over HTTP. */
export interface SettingsOperations<Input = never> {
  get(): Promise<Settings>
  /** Writes nothing when nothing would change. `cloudUrl` loses one trailing `/v1` or `/v1/`, then all trailing slashes; empty is allowed. */
  update(input: { requireApiKey?: boolean; cloudUrl?: string } | Input): Promise<Settings>
}

const settingsChange = closed({
  requireApiKey: v.exactOptional(fields.flag),
  cloudUrl: v.exactOptional(fields.text),
  cloudEnabled: fields.notYet, // until /api/sync/cloud is served
})

export function createSettingsOperations({ store }: { store: Store }): SettingsOperations<unknown> {
  return {
    get: async () => ({ ...(await store.settings.read()) }),

    async update(input) {
      const { requireApiKey, cloudUrl } = parseInput(settingsChange, input)
      const change = {
        ...(requireApiKey !== undefined && { requireApiKey }),
        ...(cloudUrl !== undefined && { cloudUrl: normalised(cloudUrl) }),
      }
      const stored = await store.settings.reread().catch(() => undefined) // what cannot be read may be mended by the change
      return stored && isSameJson(stored, { ...stored, ...change }) ? { ...stored } : store.settings.update(change)
    },
  }
}

function normalised(cloudUrl: string): string {
  const base = withoutTrailing(cloudUrl.trim().replace(/\/v1\/?$/, ''), '/')
  const problem = base === '' ? undefined : addressProblem(base)
  if (problem) throw invalidInput(`"cloudUrl" ${problem}, or be empty`)
  return base
}
