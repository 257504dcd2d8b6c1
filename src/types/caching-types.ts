/**
 * Why the gateway places no marks. `client`: the client set its own; `short`: the prompt is too short to be cached; `single`: the prompt may never come
 * again; `unsupported`: the target takes no marks; `unprofitable`: marks cost more than they saved; `rejected`: the target rejected them; `hedge`: a
 * hedge would write twice.
 */
export type StandDownReason = 'client' | 'short' | 'single' | 'unsupported' | 'unprofitable' | 'rejected' | 'hedge'
