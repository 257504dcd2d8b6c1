import { sharedBy, startChild } from './child.ts'
import { clientsLeave } from './clients-leave.ts'
import { mountGuardsAndCloses } from './mount-closes.ts'
import { readsPaths } from './paths.ts'
import { runsIn } from './scenario.ts'

const bun = new URL('node_modules/.bin/bun', import.meta.url).pathname
const start = (app: string) => startChild(bun, [`apps/${app}.mjs`])
const fetches = sharedBy(2, () => start('bun-fetch'))
const mount = sharedBy(3, () => start('bun-mount'))

runsIn('Bun.serve({ fetch: gateway.fetch })', fetches)
readsPaths('Bun.serve({ fetch: gateway.fetch })', fetches)
runsIn('Bun.serve(gateway)', () => start('bun-object'))
runsIn('serveBun(gateway)', mount)
clientsLeave('serveBun', mount)
mountGuardsAndCloses('serveBun', mount)
