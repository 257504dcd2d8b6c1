import { startChild } from './child.ts'
import { clientsLeave } from './clients-leave.ts'
import { mountGuardsAndCloses } from './mount-closes.ts'
import { readsPaths } from './paths.ts'
import { runsIn } from './scenario.ts'

const bun = new URL('node_modules/.bin/bun', import.meta.url).pathname
const start = (app: string) => startChild(bun, [`apps/${app}.mjs`])

runsIn('Bun.serve({ fetch: gateway.fetch })', () => start('bun-fetch'))
runsIn('Bun.serve(gateway)', () => start('bun-object'))
runsIn('serveBun(gateway)', () => start('bun-mount'))
readsPaths('Bun.serve({ fetch: gateway.fetch })', () => start('bun-fetch'))
mountGuardsAndCloses('serveBun', () => start('bun-mount'))
clientsLeave('serveBun', () => start('bun-mount'))
