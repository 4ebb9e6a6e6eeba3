export { Alerts } from './alerts.js';
export { type AlertsOptions, type AlertsSettings, type WebhookOptions, alertsSchema } from './alerts-options.js';
export type { AlertsMessage } from './message.js';
