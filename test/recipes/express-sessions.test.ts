import { serves } from './scenario.ts'
import { withCookies } from './sign-in.ts'

serves('express-sessions', withCookies)
