{{- define "koppelvlak.name" -}}
{{- if contains "koppelvlak" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-koppelvlak" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "koppelvlak.selector" -}}
app.kubernetes.io/name: koppelvlak
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "koppelvlak.labels" -}}
{{ include "koppelvlak.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "koppelvlak.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "koppelvlak.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "koppelvlak.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
privileged: false
capabilities:
  drop: [ALL]
{{- end }}

{{- define "koppelvlak.pull" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "koppelvlak.areas" -}}
{{- $areas := list }}
{{- range $area := list "shv" "vs" "verwerkingenlog" "raadsfeed" }}
{{- if index $.Values.areas $area }}{{ $areas = append $areas $area }}{{ end }}
{{- end }}
{{- required "areas: at least one must be true" (join "," $areas) }}
{{- end }}

{{/* Whether the data exchange is served: "true" or nothing. */}}
{{- define "koppelvlak.exchange" -}}
{{- if or .Values.areas.shv .Values.areas.vs }}true{{ end }}
{{- end }}

{{/* Names of the secret settings that the service has, as a JSON list. */}}
{{- define "koppelvlak.serviceSecrets" -}}
{{- $names := list "DATABASE_URL" }}
{{- if or (include "koppelvlak.exchange" .) .Values.areas.verwerkingenlog }}{{ $names = append $names "VERWERKINGENLOG_KEY" }}{{ end }}
{{- if .Values.proof.enabled }}{{ $names = append $names "PROOF_KEY" }}{{ end }}
{{- $apart := list "DATABASE_MIGRATION_URL" "DATABASE_PRUNE_URL" "VERWERKINGENLOG_KEY" "PROOF_KEY" "PROOF_SEALING_KEY" }}
{{- range $name, $ref := .Values.secrets }}
{{- if and $ref.name (not (has $name $apart)) }}{{ $names = append $names $name }}{{ end }}
{{- end }}
{{- toJson (uniq $names) }}
{{- end }}

{{/* Secret settings as variables that name files. The argument: dict names (list), as (dict: another name for a variable). */}}
{{- define "koppelvlak.secretEnv" -}}
{{- range $name := .names }}
- name: {{ get ($.as | default dict) $name | default $name }}_FILE
  value: /secrets/{{ $name }}
{{- end }}
{{- end }}

{{/* The volume of those files. The argument: dict root, names. */}}
{{- define "koppelvlak.secretVolume" -}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- range $name := .names }}
      {{- $ref := get $.root.Values.secrets $name | default dict }}
      - secret:
          name: {{ required (printf "secrets.%s.name: the secret that holds it" $name) $ref.name }}
          items:
            - key: {{ required (printf "secrets.%s.key: the key in that secret" $name) $ref.key }}
              path: {{ $name }}
      {{- end }}
{{- end }}

{{/* A pod that runs one command and ends. The argument: dict root, command or args, names (secret settings), as, env (list of name and value). */}}
{{- define "koppelvlak.jobPod" -}}
{{- $root := .root -}}
metadata:
  labels:
    {{- include "koppelvlak.labels" $root | nindent 4 }}
    app.kubernetes.io/component: job
spec:
  restartPolicy: OnFailure
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- include "koppelvlak.pull" $root | nindent 2 }}
  securityContext:
    {{- include "koppelvlak.podSecurity" $root | nindent 4 }}
  containers:
    - name: koppelvlak
      image: {{ include "koppelvlak.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      {{- with .command }}
      command: {{ toJson . }}
      {{- end }}
      {{- with .args }}
      args: {{ toJson . }}
      {{- end }}
      env:
        {{- include "koppelvlak.settings" $root | nindent 8 }}
        {{- range .env }}
        - name: {{ .name }}
          value: {{ .value | quote }}
        {{- end }}
        {{- include "koppelvlak.secretEnv" . | nindent 8 }}
        {{- with $root.Values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      securityContext:
        {{- include "koppelvlak.containerSecurity" $root | nindent 8 }}
      resources:
        {{- toYaml $root.Values.resources | nindent 8 }}
      volumeMounts:
        - name: secrets
          mountPath: /secrets
          readOnly: true
        - name: tmp
          mountPath: /tmp
        {{- with $root.Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    {{- include "koppelvlak.secretVolume" . | nindent 4 }}
    - name: tmp
      emptyDir: {}
    {{- with $root.Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

{{/* Settings that are no secret, as variables: a job that runs before the release exists has no ConfigMap to read. */}}
{{- define "koppelvlak.settings" -}}
- name: NODE_ENV
  value: production
- name: AREAS
  value: {{ include "koppelvlak.areas" . }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end }}
