import type { Catalog } from '../../types.ts'

/** Reserved by RFC 2606: no request to it ever leaves the machine. */
export const DEMO_BASE_URL = 'http://demo.invalid/v1'

/** The demo's models: one that always fails, and one that answers. */
export const BROKEN = 'broken'
export const STORYTELLER = 'storyteller'

/** The demo's combos, named as its providers are: one for each format that clients speak. */
export const DEMO = 'demo'
export const DEMO_MESSAGES = 'demo-messages'

const shared = { baseUrl: DEMO_BASE_URL, models: [{ id: BROKEN }, { id: STORYTELLER }] }

/** What `--demo` adds to the catalog. */
export const demoCatalog: Catalog = {
  [DEMO]: { ...shared, name: 'Demo', format: 'openai-chat' },
  [DEMO_MESSAGES]: { ...shared, name: 'Demo for Anthropic clients', format: 'anthropic-messages' },
}
