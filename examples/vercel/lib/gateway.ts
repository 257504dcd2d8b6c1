import { createGateway } from 'signalbox'
import { dashboard } from 'signalbox/dashboard'
import { postgresStorage } from 'signalbox/storage/postgres'
import { auth } from './auth.ts'
import { deriveSecret, sql } from './database.ts'

const { OPENAI_API_KEY, ANTHROPIC_API_KEY } = process.env

export const gateway = createGateway({
  basePath: '/ai',
  storage: postgresStorage(sql, { watch: false }),
  secret: deriveSecret('gateway'),
  connections: {
    openai: OPENAI_API_KEY ? { apiKey: OPENAI_API_KEY } : undefined,
    anthropic: ANTHROPIC_API_KEY ? { apiKey: ANTHROPIC_API_KEY } : undefined,
  },
  combos: { chat: ['openai/gpt-5.4-mini', 'anthropic/claude-haiku-4-5'] }, // uses the second model if the first one fails
  plans: {
    free: {
      models: ['chat'],
      each: { requests: { day: 50 }, usd: { month: 1 } }, // per user
      limits: { usd: { month: 20 } }, // for all users combined
    },
  },
  accounts: { defaultPlan: 'free' },
  async identify({ headers }) {
    const session = await auth.api.getSession({ headers })
    return session && { account: session.user.id, name: session.user.email }
  },
  dashboard: dashboard(),
  management: {
    async authorize({ headers }) {
      const session = await auth.api.getSession({ headers })
      return session?.user.isAdmin === true
    },
  },
})
