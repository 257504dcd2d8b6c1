import * as v from 'valibot'
import { withoutTrailing } from '../lib/trim-end.ts'
import type { Store } from '../store/store.ts'
import type { Settings } from '../types.ts'
import { addressProblem } from './address.ts'
import { fields } from './fields.ts'
import { closed, invalidInput, parseInput } from './input.ts'

/** The settings (spec.md, Settings). `Input` is accepted besides the typed input: nothing in process, `unknown` for bodies over HTTP. */
export interface SettingsOperations<Input = never> {
  get(): Promise<Settings>
  /** `cloudUrl` loses one trailing `/v1` or `/v1/`, then all trailing slashes; empty is allowed. */
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
      return store.settings.update({
        ...(requireApiKey !== undefined && { requireApiKey }),
        ...(cloudUrl !== undefined && { cloudUrl: normalised(cloudUrl) }),
      })
    },
  }
}

function normalised(cloudUrl: string): string {
  const base = withoutTrailing(cloudUrl.trim().replace(/\/v1\/?$/, ''), '/')
  const problem = base === '' ? undefined : addressProblem(base)
  if (problem) throw invalidInput(`"cloudUrl" ${problem}, or be empty`)
  return base
}
