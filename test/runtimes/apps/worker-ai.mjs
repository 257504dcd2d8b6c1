import { askAll } from './ai-models.mjs'

export default { fetch: async () => Response.json(await askAll()) }
