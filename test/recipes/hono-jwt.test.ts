import { serves } from './scenario.ts'
import { withToken } from './sign-in.ts'

serves('hono-jwt', withToken)
