import { TOKEN } from './client.ts'
import { addGuardTests } from './guarded.ts'
import { runsIn } from './scenario.ts'
import { startWorker } from './worker.ts'

const options = { bindings: { SIGNALBOX_ADMIN_TOKEN: TOKEN } }

runsIn('workerd: export default gateway', () => startWorker('worker-gateway', options))
runsIn('workerd: toWorkersHandler', () => startWorker('worker-mount', options))
addGuardTests('workerd', async () => {
  const { url, stop } = await startWorker('worker-guards', {})
  try {
    return await (await fetch(url)).json()
  } finally {
    await stop()
  }
})
