import { existsSync } from 'node:fs'
import { serve } from '@hono/node-server'

if (existsSync('.env')) process.loadEnvFile()
const { default: app } = await import('./app.mjs')

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000) }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}/ai/v1`)
})
