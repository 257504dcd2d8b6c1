import { checkGuards } from './guard-checks.mjs'

export default { fetch: async () => Response.json(await checkGuards()) }
