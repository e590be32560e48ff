package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"
)

// retention of logs. Booking ids are in them, codes and e-mails never.
const retentionDays = 90

type keys struct {
	key                                              awskms.CfnKey
	hashSecret, operatorToken, redisToken, gatewayKs awssecretsmanager.CfnSecret
	reportKey                                        awssecretsmanager.CfnSecret
}

// addKeys makes one key for everything at rest, and the secrets. Nobody types
// one: all are generated but the gateway's, which is filled in by hand after the
// first deployment.
func (s *Stack) addKeys() {
	s.key = awskms.NewCfnKey(s.Stack, str("Key"), &awskms.CfnKeyProps{
		Description: str("Holdfast: table, secrets, logs, Redis at rest"), EnableKeyRotation: jsii.Bool(true), PendingWindowInDays: num(30),
		KeyPolicy: document(keyPolicy()...),
	})
	s.key.ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN, nil)

	// 64 digits of base 16: the 32 random bytes that HOLDFAST_SECRET and
	// HOLDFAST_REPORT_KEY ask for.
	bytes := &awssecretsmanager.CfnSecret_GenerateSecretStringProperty{PasswordLength: num(64), ExcludeUppercase: jsii.Bool(true), ExcludePunctuation: jsii.Bool(true), ExcludeCharacters: str("ghijklmnopqrstuvwxyz")}
	s.hashSecret = s.secret("HashSecret", "Keys the hashes of codes and e-mails. Another value makes every roster unreadable: never rotate it during a sale.", bytes)
	s.hashSecret.ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN, nil)
	s.reportKey = s.secret("ReportKey", "Seed of the key that signs reports; holdfast report key shows its public half, for auditors.", bytes)
	s.reportKey.ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN, nil) // reports are verified for years
	word := &awssecretsmanager.CfnSecret_GenerateSecretStringProperty{PasswordLength: num(48), ExcludePunctuation: jsii.Bool(true)}
	s.operatorToken = s.secret("OperatorToken", "Bearer token of /admin.", word)
	s.redisToken = s.secret("RedisToken", "AUTH token of Redis.", word)
	s.gatewayKs = s.secret("GatewayKeys", "app_key, app_secret and webhook_secret of the payment gateway's account; put the real ones in.",
		&awssecretsmanager.CfnSecret_GenerateSecretStringProperty{PasswordLength: num(48), ExcludePunctuation: jsii.Bool(true), GenerateStringKey: str("webhook_secret"), SecretStringTemplate: str(`{"app_key":"unset","app_secret":"unset"}`)})
}

func (s *Stack) secret(id, says string, generate *awssecretsmanager.CfnSecret_GenerateSecretStringProperty) awssecretsmanager.CfnSecret {
	return awssecretsmanager.NewCfnSecret(s.Stack, str(id), &awssecretsmanager.CfnSecretProps{
		Description: str(says), KmsKeyId: s.key.Ref(), GenerateSecretString: generate,
	})
}

// keyPolicy gives the account's own policies their say, and lets the services
// that hold our data use the key for this account only.
func keyPolicy() []statement {
	account := map[string]any{"AWS": sub("arn:${AWS::Partition}:iam::${AWS::AccountId}:root")}
	use := []any{"kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"}
	return []statement{
		{"Sid": "Account", "Effect": "Allow", "Principal": account, "Action": "kms:*", "Resource": "*"},
		{"Sid": "ThroughServices", "Effect": "Allow", "Principal": map[string]any{"AWS": "*"}, "Action": append(use, "kms:CreateGrant"), "Resource": "*",
			"Condition": map[string]any{"StringEquals": map[string]any{
				"kms:CallerAccount": sub("${AWS::AccountId}"),
				"kms:ViaService":    []any{sub("dynamodb.${AWS::Region}.amazonaws.com"), sub("elasticache.${AWS::Region}.amazonaws.com")},
			}}},
		{"Sid": "Logs", "Effect": "Allow", "Principal": map[string]any{"Service": sub("logs.${AWS::Region}.amazonaws.com")}, "Action": use, "Resource": "*",
			"Condition": map[string]any{"ArnLike": map[string]any{"kms:EncryptionContext:aws:logs:arn": sub("arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:*")}}},
		{"Sid": "Alarms", "Effect": "Allow", "Principal": map[string]any{"Service": "cloudwatch.amazonaws.com"}, "Action": []any{"kms:Decrypt", "kms:GenerateDataKey*"}, "Resource": "*"},
	}
}

// logs makes the log group of a part.
func (s *Stack) logs(id, name string) awslogs.CfnLogGroup {
	return awslogs.NewCfnLogGroup(s.Stack, str(id), &awslogs.CfnLogGroupProps{
		LogGroupName: str(name), RetentionInDays: num(retentionDays), KmsKeyId: s.key.AttrArn(),
	})
}
